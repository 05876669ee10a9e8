/**
 * What counts as ignored. The rules are the user's own, as git reads them: each `.gitignore` of the workspace, the
 * repository's `info/exclude`, and `core.excludesFile`. They count only for a path that is new: no step holds it, and the
 * agent's own index does not have it. A path that was deleted and has come back is new again. A new path that a rule ignores
 * is in no step. Apart from the rules, files that a workspace was given (kept-out.ts) are in no step either.
 *
 * core/workspaces/include.ts asks the same question of the checkout: it may copy what its patterns name and a rule ignores.
 */
import path from 'node:path'
import { type BytePath, splitNul } from '../../core/model/bytes.ts'
import type { GitExec } from '../../git/exec.ts'
import { findEntry, type Leaf, type TreeStore } from '../objects/tree.ts'
import { filesBelow } from './capture.ts'
import { withoutWaiting } from './pipes.ts'
import { callScope, type ScanScope } from './scan-scope.ts'

/** Tells `git ls-files` to go by the rules. */
export const byUserRules = '--exclude-standard'

/** Whether the rules count for a path, by what the steps hold of it: null when it was deleted. */
export function isNew(held: Leaf | null | undefined): boolean {
  return !held
}

/** Of new paths that a rule ignores, those that stay out: what the agent's own index has is in. */
export function keptOutOf(ignored: Iterable<BytePath>, staged: ReadonlyMap<BytePath, unknown>): BytePath[] {
  return [...ignored].filter((file) => !staged.has(file))
}

/** Of these new paths, the ones that no rule ignores. */
export async function withoutIgnored(
  exec: GitExec,
  scope: ScanScope,
  paths: readonly BytePath[],
  signal?: AbortSignal,
): Promise<BytePath[]> {
  const ignored = await findIgnored(exec, scope, paths, signal)
  return paths.filter((file) => !ignored.has(file))
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
  const by = rules === undefined ? byUserRules : `--exclude-from=${rules}`
  const args = ['ls-files', '-z', '--others', '--ignored', by, ...(folders ? ['--directory'] : [])]
  const listing = exec({ args, ...callScope(scope, signal) })
  return splitNul((await withoutWaiting(scope.workspace, listing)).stdout)
}

/** The paths that a file of patterns names and a rule ignores: git is asked twice, once with the patterns as rules. */
export async function scanNamed(
  exec: GitExec,
  scope: ScanScope,
  { rules, folders }: { rules: string; folders: boolean },
  signal?: AbortSignal,
): Promise<BytePath[]> {
  const named = await scanIgnored(exec, scope, signal, { rules, folders })
  const ignored = await findIgnored(exec, scope, named, signal)
  return named.filter((file) => ignored.has(file))
}

/** Of ignored paths, those that the step does not hold. A folder of which it holds some files is told file by file. */
export async function withoutCaptured(
  store: TreeStore,
  tree: string,
  workspace: string,
  ignored: readonly BytePath[],
): Promise<BytePath[]> {
  const left: BytePath[] = []
  for (const found of ignored) {
    const isFolder = found.endsWith('/')
    const entry = await findEntry(store, tree, isFolder ? found.slice(0, -1) : found)
    if (!entry) left.push(found)
    if (!isFolder || entry?.mode !== '40000') continue
    for (const file of (await filesBelow(workspace, found.slice(0, -1))).files) {
      if (!(await findEntry(store, tree, file))) left.push(file)
    }
  }
  return left
}

/**
 * The repository's own list of what to ignore has its place among the rules (a .gitignore overrules it), so the vault
 * has a copy of it there. It is read by us: should it have become a pipe, git would wait for ever.
 */
export async function syncExcludes({ files, vault, excludes }: ScanScope): Promise<void> {
  const copy = path.join(vault, 'info', 'exclude')
  const wanted = (await files.readText(excludes).catch(() => undefined)) ?? ''
  if (wanted !== ((await files.readText(copy)) ?? '')) await files.write(copy, wanted, 0o600)
}
