/** Tells of branches that moved during a run what they point at, and whether the run surely moved them (docs/adr/0047-whose-commit-it-is.md). */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { branchOf, branchOfHead } from '../core/model/refs.ts'
import { registrationMark } from '../core/model/layout.ts'
import type { CommitWords, RefMove, RefMoves, RefMovesInput } from '../core/model/git.ts'
import { type Place, repoRoot } from '../core/model/repo.ts'
import type { GitExec } from './exec.ts'
import { lstatOf, readSmall } from './look.ts'

/** An agent may have made a history that takes for ever to walk. */
const bounded = { bounds: { memoryMegabytes: 2_048, cpuSeconds: 5 }, deadlineMs: 20_000 }

export async function readRefMoves(exec: GitExec, place: Place, input: RefMovesInput): Promise<RefMoves> {
  const { changes } = input
  const words = await readWords(
    exec,
    place,
    changes.flatMap(({ before, after }) => [before, after].filter((id) => id !== null)),
  )
  const { heads, made } = readHeads(place)
  const checkouts = new Map(heads.map((head) => [head, checkoutOf(head, place)]))
  const known = [...input.known, ...made]
  const moves = new Map<string, RefMove>()
  for (const { ref, before, after } of changes) {
    const there = heads.filter((head) => isAt(head, ref))
    const noted = there.filter(
      (head) => before !== null && after !== null && isNoted(lastLines(head), before, after),
    )
    // The checkout that has the branch notes every commit that is made there: this one came from elsewhere.
    const isElsewhere = there.some((head) => lastLines(head).length > 0)
    const isProven = noted.length === 0 && (isElsewhere || !(await hasForeign(exec, place, after, known)))
    const checkout = checkouts.get(noted[0] ?? '')
    const from = before === null ? undefined : words.get(before)
    const to = after === null ? undefined : words.get(after)
    moves.set(ref, { from, to, isProven, checkout })
  }
  return { moves, isSwitched: heads.some((head) => isSwitched(head, input.since)), checkouts }
}

/** Subject and author of each commit that git can read. */
async function readWords(
  exec: GitExec,
  { commonDir }: Place,
  ids: readonly string[],
): Promise<Map<string, CommitWords>> {
  if (ids.length === 0) return new Map()
  const { stdout } = await exec({
    args: ['log', '--no-walk=unsorted', '--ignore-missing', '-z', '--format=%H%n%an <%ae>%n%s', '--stdin'],
    stdin: ids.map((id) => `${id}\n`).join(''),
    gitDir: commonDir,
    cwd: commonDir,
    expect: [128],
    ...bounded,
  })
  return new Map(
    stdout
      .toString()
      .split('\0')
      .filter(Boolean)
      .map((text): [string, CommitWords] => {
        const [id = '', author = '', ...subject] = text.split('\n')
        return [id, { subject: subject.join(' ').slice(0, 200), author }]
      }),
  )
}

/** Whether the branch has commits that no ref had before the run, and that were made in no workspace. */
async function hasForeign(
  exec: GitExec,
  { commonDir }: Place,
  after: string | null,
  known: readonly string[],
): Promise<boolean> {
  if (after === null || known.includes(after)) return false
  const asked = exec({
    args: ['rev-list', '--max-count=1', '--ignore-missing', '--stdin'],
    stdin: [after, ...known.map((id) => `^${id}`), ''].join('\n'),
    gitDir: commonDir,
    cwd: commonDir,
    expect: [128],
    ...bounded,
  })
  return asked.then(
    ({ code, stdout }) => code !== 0 || stdout.length > 0,
    () => true,
  )
}

interface Heads {
  /** The git folders of the main checkout and of worktrees that are not ours. */
  readonly heads: readonly string[]
  /** The commits that the worktrees of tasks have been at. */
  readonly made: readonly string[]
}

function readHeads({ commonDir }: Place): Heads {
  const folder = path.join(commonDir, 'worktrees')
  const linked = namesIn(folder).map((name) => path.join(folder, name))
  const isOurs = (gitDir: string) => lstatOf(path.join(gitDir, registrationMark)) !== undefined
  const made = linked
    .filter(isOurs)
    .flatMap(lastLines)
    .flatMap((line) => /^\w+ ([0-9a-f]{40,64}) /.exec(line)?.[1] ?? [])
  return { heads: [commonDir, ...linked.filter((gitDir) => !isOurs(gitDir))], made: [...new Set(made)] }
}

/** The checkout of a git folder. Of a worktree only if it points back: an agent may have registered any folder. */
function checkoutOf(gitDir: string, { commonDir }: Place): string | undefined {
  if (gitDir === commonDir) return repoRoot(commonDir)
  const dotGit = path.resolve(gitDir, readText(path.join(gitDir, 'gitdir')).trim())
  const [, back = ''] = /^gitdir: (.+?)\r?\n?$/s.exec(readText(dotGit)) ?? []
  return path.resolve(path.dirname(dotGit), back) === gitDir ? path.dirname(dotGit) : undefined
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isAt(gitDir: string, ref: string): boolean {
  return branchOfHead(readText(path.join(gitDir, 'HEAD'))) === branchOf(ref)
}

/** Git notes a change of a branch in the log of HEAD only where that branch is checked out: in a checkout of the user. */
function isNoted(lines: readonly string[], before: string, after: string): boolean {
  const entries = lines.map((line) => line.split(' '))
  return entries.at(-1)?.[1] === after && entries.some(([old]) => old === before)
}

/** Whether somebody has switched to another branch there, as `git switch` notes it. */
function isSwitched(gitDir: string, since: Date): boolean {
  const [, seconds, message = ''] = /> (\d+) [+-]\d+\t(.*)$/.exec(lastLines(gitDir).at(-1) ?? '') ?? []
  return message.startsWith('checkout: ') && Number(seconds) >= Math.floor(since.getTime() / 1000)
}

function lastLines(gitDir: string): string[] {
  return readText(path.join(gitDir, 'logs', 'HEAD'))
    .split('\n')
    .filter(Boolean)
    .slice(-1_000)
}

function readText(file: string): string {
  try {
    return (lstatOf(file)?.isFile() && readSmall(file)) || ''
  } catch {
    return ''
  }
}
