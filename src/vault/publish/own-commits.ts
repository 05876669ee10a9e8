/**
 * The commits that the agent made itself. In a worktree they are in the user's repository before anybody has looked at
 * them, so they are checked here, as git checks a push, before they are handed on (docs/adr/0043-landing-tells.md).
 */
import { fromBytes } from '../../core/model/bytes.ts'
import { AppError } from '../../core/model/errors.ts'
import type { OwnCommit, OwnCommits } from '../../core/model/step.ts'
import { scratchIn } from '../../core/model/layout.ts'
import type { OpenVault } from '../open.ts'

/**
 * Packs the commits that `head` has beyond `known` into the vault, unless an object is missing or `git fsck` would refuse
 * one: then the answer is false. The vault keeps them if the user's repository loses them.
 */
export async function bringIn(
  vault: OpenVault,
  head: string,
  known: readonly string[],
  signal?: AbortSignal,
): Promise<boolean> {
  const base = scratchIn(vault.vault, 'own')
  const scope = { gitDir: vault.vault, alternates: vault.alternates, cwd: vault.vault, signal }
  const packed = await vault.exec({
    args: ['pack-objects', '--revs', '--non-empty', '-q', base],
    // Searching big files for deltas takes much time and memory.
    settings: [['core.bigFileThreshold', '1m']],
    stdin: [head, ...known.map((commit) => `^${commit}`), ''].join('\n'),
    expect: [128],
    ...scope,
  })
  if (packed.code !== 0) return isNotFull(packed.stderr)
  const name = packed.stdout.toString().trim()
  if (name === '') return true
  const pack = `${base}-${name}`
  try {
    const stored = await vault.exec({
      args: ['index-pack', '--stdin', '--strict'],
      stdinFile: `${pack}.pack`,
      durable: true,
      expect: [1, 128],
      ...scope,
    })
    return stored.code === 0 || isNotFull(stored.stderr)
  } finally {
    for (const end of ['pack', 'idx', 'rev']) await vault.files.remove(`${pack}.${end}`)
  }
}

/** False, for a git that refused the objects; throws for one that had no space. */
function isNotFull(stderr: string): false {
  if (!/No space left on device|Disk quota exceeded|unable to write/.test(stderr)) return false
  throw new AppError('diskFull', `The agent's own commits could not be stored: ${stderr.trim()}`)
}

interface Own {
  readonly heads: readonly string[]
  /** Tips of ours that were published on top of such commits, which were sound then. */
  readonly joined: readonly string[]
  /** Commits of ours among them. */
  readonly ours: ReadonlySet<string>
  readonly base: string
  readonly you: string | undefined
}

/** Every commit that these heads have beyond `base`, with the files that it is the first to have. */
export async function readOwnCommits(
  vault: OpenVault,
  { heads, joined, ours, base, you }: Own,
  signal?: AbortSignal,
): Promise<OwnCommits> {
  const unsound: string[] = []
  const sound = [...joined]
  for (const head of heads) {
    const isSound = await bringIn(vault, head, [base], signal)
    ;(isSound ? sound : unsound).push(head)
  }
  if (sound.length === 0) return { commits: [], unsound }
  const { stdout } = await vault.exec({
    args: ['rev-list', '--objects', '--in-commit-order', '--format=%an <%ae>', ...sound, `^${base}`],
    gitDir: vault.vault,
    alternates: vault.alternates,
    cwd: vault.vault,
    signal,
  })
  const commits = parseCommits(fromBytes(stdout))
    .filter(({ commit }) => !ours.has(commit))
    .map(({ author, ...rest }) => ({ ...rest, ...(author !== you && { author }) }))
  return { commits, unsound }
}

/** Reads `commit <id>`, its author, then `<id> <path>` of each object that appears with it. */
function parseCommits(text: string): (OwnCommit & { readonly author: string })[] {
  const commits: { commit: string; author: string; files: { path: string; oid: string }[] }[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line.startsWith('commit ')) {
      const author = Buffer.from(lines[++at] ?? '', 'latin1').toString()
      commits.push({ commit: line.slice('commit '.length), author, files: [] })
      continue
    }
    const space = line.indexOf(' ')
    if (space > 0 && space < line.length - 1)
      commits.at(-1)?.files.push({ oid: line.slice(0, space), path: line.slice(space + 1) })
  }
  return commits
}
