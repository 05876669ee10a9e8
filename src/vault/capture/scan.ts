/** Which paths of a workspace may have changed since it was made. Git compares; its answer is a superset. */
import path from 'node:path'
import { allEnded } from '../../core/base/concurrency.ts'
import { type BytePath, fromText, splitNul } from '../../core/model/bytes.ts'
import type { FileSystem } from '../../core/ports/files.ts'
import type { GitExec } from '../../git/exec.ts'
import { withoutWaiting } from './pipes.ts'

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

export interface Scanned {
  /** FileSystem that the index has, and that look different or are gone. */
  readonly tracked: BytePath[]
  /** FileSystem that the index does not have and no rule ignores. A repository inside comes as a path ending in a slash. */
  readonly untracked: BytePath[]
  /** Folders that could not be looked into, ending in a slash. */
  readonly unreadable: BytePath[]
}

export async function scanAll(exec: GitExec, scope: ScanScope, signal?: AbortSignal): Promise<Scanned> {
  await syncExcludes(scope)
  const common = callScope(scope, signal)
  const listing = allEnded([
    exec({ args: ['ls-files', '-z', '--modified', '--deleted'], ...common }),
    exec({ args: ['ls-files', '-z', '--others', '--exclude-standard'], ...common }),
  ])
  const [tracked, untracked] = await withoutWaiting(scope.workspace, listing)
  const refused = untracked.stderr.matchAll(/^warning: could not open directory '(.*)': (.*)$/gm)
  return {
    tracked: splitNul(tracked.stdout),
    untracked: splitNul(untracked.stdout),
    // A folder that was deleted meanwhile is no folder that hides something.
    unreadable: Array.from(refused, ([, folder = '', why]) =>
      why?.startsWith('No such') ? '' : fromText(folder),
    ).filter(Boolean),
  }
}

export async function scan(exec: GitExec, scope: ScanScope, signal?: AbortSignal): Promise<Set<BytePath>> {
  const { tracked, untracked } = await scanAll(exec, scope, signal)
  return new Set([...tracked, ...untracked])
}

/**
 * What the rules ignore, or those of a file of their own; a folder that is ignored as a whole comes as one path that ends
 * in a slash, unless its files are wanted.
 */
export async function scanIgnored(
  exec: GitExec,
  scope: ScanScope,
  signal?: AbortSignal,
  { rules, folders = true }: { rules?: string; folders?: boolean } = {},
): Promise<BytePath[]> {
  await syncExcludes(scope)
  const by = rules === undefined ? '--exclude-standard' : `--exclude-from=${rules}`
  const args = ['ls-files', '-z', '--others', '--ignored', by, ...(folders ? ['--directory'] : [])]
  const listing = exec({ args, ...callScope(scope, signal) })
  return splitNul((await withoutWaiting(scope.workspace, listing)).stdout)
}

/** Of these paths, the ones that a rule ignores. */
export async function findIgnored(
  exec: GitExec,
  scope: ScanScope,
  paths: readonly BytePath[],
  signal?: AbortSignal,
): Promise<Set<BytePath>> {
  if (paths.length === 0) return new Set()
  await syncExcludes(scope)
  return new Set(await checkIgnored(exec, scope, paths, signal))
}

/** A path that git refuses to judge, as one behind a link that was a folder just now, is found by halving. */
async function checkIgnored(
  exec: GitExec,
  scope: ScanScope,
  paths: readonly BytePath[],
  signal?: AbortSignal,
): Promise<BytePath[]> {
  // `./` in front, so that no name is taken for a pattern; this command knows no literal ones.
  const stdin = Buffer.from(paths.map((file) => `./${file}\0`).join(''), 'latin1')
  const args = ['check-ignore', '-z', '--stdin', '--no-index']
  const asking = exec({ args, stdin, expect: [1, 128], globs: true, ...callScope(scope, signal) })
  const { code, stdout } = await withoutWaiting(scope.workspace, asking)
  if (code !== 128) return splitNul(stdout).map((file) => file.slice(2))
  if (paths.length === 1) return []
  const half = Math.ceil(paths.length / 2)
  return [
    ...(await checkIgnored(exec, scope, paths.slice(0, half), signal)),
    ...(await checkIgnored(exec, scope, paths.slice(half), signal)),
  ]
}

/**
 * Makes the index younger than the files it describes. Git keeps times in seconds: as long as both are of the same
 * second, it has to read every file again to know that it did not change.
 */
export async function refreshIndex(exec: GitExec, scope: ScanScope, signal?: AbortSignal): Promise<boolean> {
  const args = ['update-index', '-q', '--refresh']
  const asked = exec({ args, expect: [1, 128], ...callScope(scope, signal) })
  return (await withoutWaiting(scope.workspace, asked)).code !== 128
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
function callScope({ vault, workspace, index, alternates }: ScanScope, signal: AbortSignal | undefined) {
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

/**
 * The repository's own list of what to ignore has its place among the rules (a .gitignore overrules it), so the vault
 * has a copy of it there. It is read by us: should it have become a pipe, git would wait for ever.
 */
async function syncExcludes({ files, vault, excludes }: ScanScope): Promise<void> {
  const copy = path.join(vault, 'info', 'exclude')
  const wanted = (await files.readText(excludes).catch(() => undefined)) ?? ''
  if (wanted !== ((await files.readText(copy)) ?? '')) await files.write(copy, wanted, 0o600)
}
