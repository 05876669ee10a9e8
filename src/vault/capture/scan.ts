/** The paths of a workspace that may have changed since it was made. Git compares; its answer is a superset. */
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
  /** The index from when the workspace was filled: a cache of every file's stat. */
  readonly index: string
  readonly alternates: readonly string[]
  /** The user's own ignore list of this repository, `info/exclude`. */
  readonly excludes: string
}

export interface Scanned {
  /** Files of the index that look different or are gone. */
  readonly tracked: BytePath[]
  /** Files outside of the index that no rule ignores. A nested repository is one path that ends in a slash. */
  readonly untracked: BytePath[]
  /** Folders that could not be read, ending in a slash. */
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
    // A folder that was deleted meanwhile hides nothing.
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
 * The paths that the ignore rules match, or those that the file `rules` matches instead. A wholly ignored folder is one
 * path that ends in a slash; with `folders: false` its files are listed.
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

/** The paths of this list that a rule ignores. */
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

/** Git fails on a path behind a link, for example if the link has just replaced a folder. Halving finds that path. */
async function checkIgnored(
  exec: GitExec,
  scope: ScanScope,
  paths: readonly BytePath[],
  signal?: AbortSignal,
): Promise<BytePath[]> {
  // `./` in front keeps git from reading a name as a pattern; check-ignore has no option for literal paths.
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
 * Makes the index younger than its files. The index keeps times in seconds: if a file has the second of the index, git
 * must read the file to know that it did not change.
 */
export async function refreshIndex(exec: GitExec, scope: ScanScope, signal?: AbortSignal): Promise<boolean> {
  const args = ['update-index', '-q', '--refresh']
  const asked = exec({ args, expect: [1, 128], ...callScope(scope, signal) })
  return (await withoutWaiting(scope.workspace, asked)).code !== 128
}

/** Overrides the user's settings that hide changes from git, as some do to save time. */
const strictSettings = [
  ['core.fileMode', 'true'],
  ['core.trustctime', 'true'],
  ['core.checkStat', 'default'],
  ['core.ignoreStat', 'false'],
  ['core.symlinks', 'true'],
  // A file that the agent wrote outside of the sparse cone counts as present.
  ['core.sparseCheckout', 'true'],
] as const

/** The user's own ignore rules apply (`config: user`); the vault's info/attributes turns conversions off. */
function callScope({ vault, workspace, index, alternates }: ScanScope, signal: AbortSignal | undefined) {
  return {
    gitDir: vault,
    workTree: workspace,
    indexFile: index,
    alternates,
    cwd: workspace,
    config: 'user',
    settings: strictSettings,
    signal,
  } as const
}

/**
 * Copies the repository's `info/exclude` into the vault, where it keeps its rank among the rules (a .gitignore
 * overrules it). We read it ourselves: if it has become a pipe, git would block for ever.
 */
async function syncExcludes({ files, vault, excludes }: ScanScope): Promise<void> {
  const copy = path.join(vault, 'info', 'exclude')
  const wanted = (await files.readText(excludes).catch(() => undefined)) ?? ''
  if (wanted !== ((await files.readText(copy)) ?? '')) await files.write(copy, wanted, 0o600)
}
