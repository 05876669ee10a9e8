/** The arguments of a git that looks at a workspace: where everything is, and which settings count. */
import type { FileSystem } from '../../core/ports/files.ts'

export interface ScanScope {
  readonly files: FileSystem
  readonly vault: string
  readonly workspace: string
  /** The index of the moment when the workspace was filled: a cache of what its files looked like. */
  readonly index: string
  readonly alternates: readonly string[]
  /** The user's own list of what to ignore in this repository. */
  readonly excludes: string
}

/** Nothing in the user's settings may keep git from seeing a change, as some do to save time. */
const attentive = [
  ['core.fileMode', 'true'],
  ['core.trustctime', 'true'],
  ['core.checkStat', 'default'],
  ['core.ignoreStat', 'false'],
  ['core.symlinks', 'true'],
  // A file that was written outside of the sparse cone is one that is there.
  ['core.sparseCheckout', 'true'],
] as const

/** The user's own ignore rules count (`config: user`); conversions are off in the vault's info/attributes. */
export function callScope(
  { vault, workspace, index, alternates }: ScanScope,
  signal: AbortSignal | undefined,
) {
  return {
    gitDir: vault,
    workTree: workspace,
    indexFile: index,
    alternates,
    cwd: workspace,
    config: 'user',
    settings: attentive,
    signal,
  } as const
}
