/** Which paths of a workspace may have changed since it was made. Git compares; its answer is a superset. */
import type { GitExec } from '../git/exec.ts'
import { type BytePath, splitNul } from './bytes.ts'

export interface ScanScope {
  readonly vault: string
  readonly workspace: string
  /** The index of the moment when the workspace was filled: a cache of what its files looked like. */
  readonly index: string
  readonly alternates: readonly string[]
  /** The user's own list of what to ignore in this repository. */
  readonly excludes: string
}

/**
 * Tracked files that look different or are gone, and untracked ones that no rule ignores. A folder that holds a
 * repository of its own comes as one path that ends in a slash.
 */
export async function scan(exec: GitExec, scope: ScanScope, signal?: AbortSignal): Promise<Set<BytePath>> {
  const common = callScope(scope, signal)
  const [tracked, untracked] = await Promise.all([
    exec({ args: ['ls-files', '-z', '--modified', '--deleted'], ...common }),
    exec({ args: ['ls-files', '-z', '--others', ...ignoreRules(scope)], ...common }),
  ])
  return new Set([...splitNul(tracked.stdout), ...splitNul(untracked.stdout)])
}

/** What the rules ignore; a folder that is ignored as a whole comes as one path that ends in a slash. */
export async function scanIgnored(
  exec: GitExec,
  scope: ScanScope,
  signal?: AbortSignal,
): Promise<BytePath[]> {
  const args = ['ls-files', '-z', '--others', '--ignored', '--directory', ...ignoreRules(scope)]
  return splitNul((await exec({ args, ...callScope(scope, signal) })).stdout)
}

/** Of these paths, the ones that a rule ignores. */
export async function findIgnored(
  exec: GitExec,
  scope: ScanScope,
  paths: readonly BytePath[],
  signal?: AbortSignal,
): Promise<Set<BytePath>> {
  if (paths.length === 0) return new Set()
  // `./` in front, so that no name is taken for a pattern; this command knows no literal ones.
  const stdin = Buffer.from(paths.map((file) => `./${file}\0`).join(''), 'latin1')
  const args = ['check-ignore', '-z', '--stdin', '--no-index']
  const { stdout } = await exec({ args, stdin, expect: [1], globs: true, ...callScope(scope, signal) })
  return new Set(splitNul(stdout).map((file) => file.slice(2)))
}

/**
 * Makes the index younger than the files it describes. Git keeps times in seconds: as long as both are of the same
 * second, it has to read every file again to know that it did not change.
 */
export async function refreshIndex(exec: GitExec, scope: ScanScope, signal?: AbortSignal): Promise<void> {
  await exec({ args: ['update-index', '-q', '--refresh'], expect: [1], ...callScope(scope, signal) })
}

/** The user's own ignore rules count (`config: user`); conversions are off in the vault's info/attributes. */
function callScope({ vault, workspace, index, alternates }: ScanScope, signal: AbortSignal | undefined) {
  return {
    gitDir: vault,
    workTree: workspace,
    indexFile: index,
    alternates,
    cwd: workspace,
    config: 'user',
    signal,
  } as const
}

function ignoreRules({ excludes }: ScanScope): string[] {
  return ['--exclude-standard', `--exclude-from=${excludes}`]
}
