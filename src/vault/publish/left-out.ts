/** Keeps the agent's own commits that a publish leaves off the branch, and tells of them (docs/adr/0039-landing-tells.md). */
import { counted } from '../../core/base/counted.ts'
import { toText } from '../../core/model/bytes.ts'
import { appError } from '../../core/model/errors.ts'
import { leftOutRef } from '../../core/model/refs.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Task } from '../../core/model/task.ts'
import { changeRefs } from '../../git/refs.ts'
import { workspacePlace } from '../../git/workspace-place.ts'
import type { OpenVault } from '../open.ts'
import type { Gathered } from './join-plan.ts'
import { writeOwnRef } from './own-git.ts'
import { withoutGiven } from './without-given.ts'

/** Comes before the branch moves, which may be all that reaches them. Answers a sentence for each such head. */
export async function keepLeftOut(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  { base, last, standings }: Gathered,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const said: string[] = []
  for (const [head, standing] of standings) {
    if (standing !== 'lacking') continue
    const where = await keepHead(vault, repo, task, head, signal)
    const count = await countCommits(vault, repo, head, last === undefined ? [base] : [base, last], signal)
    said.push(`${count} not on the branch: git refuses their content, or a part is missing (${where}).`)
  }
  return said.length === 0 ? undefined : said.join(' ')
}

/**
 * The heads without files that offshoot gave to the workspace, and a sentence if there were any. The commits as the agent
 * made them are kept: the branch no longer reaches them.
 */
export async function clearHeads(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  heads: readonly string[],
  { base, last }: Pick<Gathered, 'base' | 'last'>,
  signal?: AbortSignal,
): Promise<{ heads: string[]; leftOut: string | undefined }> {
  const cleared: string[] = []
  const said: string[] = []
  const known = last === undefined ? [base] : [base, last]
  for (const head of heads) {
    const { head: clear, paths } = await withoutGiven(vault, task, head, known, signal)
    cleared.push(clear)
    if (clear === head) continue
    const where = await keepHead(vault, repo, task, head, signal)
    const names = Array.from(paths, toText).toSorted()
    const more = names.length > 3 ? ` and ${names.length - 3} more` : ''
    said.push(
      `The agent's commits are taken without ${names.slice(0, 3).join(', ')}${more}, from your checkout (${where}).`,
    )
  }
  return { heads: cleared, leftOut: said.length === 0 ? undefined : said.join(' ') }
}

/** Where the commit is kept. */
async function keepHead(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  head: string,
  signal?: AbortSignal,
): Promise<string> {
  const ref = leftOutRef(task.uid, head)
  return (await isKept(vault, repo, task, ref, head, signal)) ? `kept at ${ref}` : `last at ${head}`
}

/** False when git cannot name the commit: then it is missing itself. It must not stop the steps. */
async function isKept(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  ref: string,
  head: string,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    // The user's repository has no commit of a clone: it stays there, and goes into the trash with it.
    if (task.isolation === 'clone') await writeOwnRef(vault.files, workspacePlace(repo, task), ref, head)
    else {
      const change = { ref, old: null, new: head }
      await changeRefs(
        vault.exec,
        vault.files,
        repo.place,
        [change],
        `offshoot: left out of ${task.uid}`,
        signal,
      )
    }
    return true
  } catch (thrown) {
    const error = appError(thrown)
    if (error.problem !== 'failed') throw error
    return false
  }
}

async function countCommits(
  vault: OpenVault,
  repo: Repo,
  head: string,
  known: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const { code, stdout } = await vault.exec({
    args: ['rev-list', '--count', head, ...known.map((commit) => `^${commit}`)],
    gitDir: repo.commonDir,
    alternates: vault.alternates,
    cwd: repo.commonDir,
    expect: [128],
    signal,
  })
  if (code !== 0) return 'Commits of the agent are'
  const count = Number(stdout.toString())
  return `${counted(count, 'commit')} of the agent ${count === 1 ? 'is' : 'are'}`
}
