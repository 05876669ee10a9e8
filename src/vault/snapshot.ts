/** What changed in a workspace since its last step, captured. */
import { lstat } from 'node:fs/promises'
import path from 'node:path'
import type { SkippedPath } from '../core/ports.ts'
import { type BytePath, below, fromText, toText } from './bytes.ts'
import { type CaptureScope, capture, filesBelow } from './capture.ts'
import { eachOf } from './each.ts'
import { lookOf, type Overlay, type Seen } from './overlay.ts'
import { findIgnored, type ScanScope, scan } from './scan.ts'
import { type Changed, changeTree, findLeaf, type Leaf } from './tree.ts'

export interface Difference extends Changed {
  readonly skipped: SkippedPath[]
  /** For the overlay: how each captured file looked. */
  readonly news: Map<BytePath, Seen>
}

type Scope = CaptureScope & ScanScope

/** The tree of the workspace as it is now, against `tree`, and what could not be taken. */
export async function difference(
  scope: Scope,
  tree: string,
  overlay: Overlay,
  named?: readonly string[],
  signal?: AbortSignal,
): Promise<Difference> {
  const candidates = named
    ? await namedPaths(scope, tree, overlay, named, signal)
    : await allPaths(scope, overlay, signal)
  const now = BigInt(Date.now()) * 1_000_000n
  const changes = new Map<BytePath, Leaf | null>()
  const news = new Map<BytePath, Seen>()
  const skipped: SkippedPath[] = candidates.git.map((found) => ({
    path: toText(found),
    why: 'a repository of its own',
  }))
  await eachOf(candidates.files, 8, async (file) => {
    signal?.throwIfAborted()
    const known = overlay.seen.get(file)
    if (known && (await looksSame(scope.workspace, file, known, now))) {
      changes.set(file, known.leaf)
      return
    }
    const taken = await capture(scope, file)
    if (taken.kind === 'skipped') skipped.push({ path: toText(file), why: taken.why })
    // Of an unreadable file we know nothing new: what the last step has of it stays.
    if (taken.kind === 'skipped' && taken.why === 'unreadable') return
    if (taken.kind === 'folder' && (await findLeaf(scope.objects, tree, file))?.mode === '160000') return
    const leaf = taken.kind === 'file' ? taken.leaf : null
    changes.set(file, leaf)
    news.set(file, { leaf, look: taken.kind === 'file' ? lookOf(taken.stat, now) : undefined })
  })
  const changed = await changeTree(scope.objects, tree, changes)
  return { ...changed, skipped, news }
}

async function looksSame(workspace: string, file: BytePath, known: Seen, now: bigint): Promise<boolean> {
  const stat = await lstat(below(workspace, file), { bigint: true }).catch(() => undefined)
  if (!stat) return known.leaf === null
  return known.look !== undefined && known.look === lookOf(stat, now)
}

interface Candidates {
  readonly files: ReadonlySet<BytePath>
  /** The `.git` of repositories inside the workspace. */
  readonly git: readonly BytePath[]
}

/** All that git finds, and what earlier steps have: that stays in until it is deleted, whatever the rules now say. */
async function allPaths(scope: Scope, overlay: Overlay, signal?: AbortSignal): Promise<Candidates> {
  const files = new Set(overlay.seen.keys())
  const git: BytePath[] = []
  for (const found of await scan(scope.exec, scope, signal)) {
    if (!found.endsWith('/')) {
      files.add(found)
      continue
    }
    const nested = await filesBelow(scope.workspace, found.slice(0, -1))
    const ignored = await findIgnored(scope.exec, scope, nested.files, signal)
    for (const file of nested.files) if (!ignored.has(file)) files.add(file)
    git.push(...nested.git)
  }
  return { files, git }
}

/** The paths that a tool says it wrote, as far as they are in the workspace and no rule ignores them. */
async function namedPaths(
  scope: Scope,
  tree: string,
  overlay: Overlay,
  named: readonly string[],
  signal?: AbortSignal,
): Promise<Candidates> {
  const files = new Set<BytePath>()
  for (const name of named) {
    const relative = path.relative(scope.workspace, path.resolve(scope.workspace, name))
    const outside = relative === '' || relative.startsWith('..') || path.isAbsolute(relative)
    if (!outside && !relative.split(path.sep).includes('.git')) files.add(fromText(relative))
  }
  const unknown: BytePath[] = []
  for (const file of files) {
    if (!overlay.seen.has(file) && !(await findLeaf(scope.objects, tree, file))) unknown.push(file)
  }
  for (const file of await findIgnored(scope.exec, scope, unknown, signal)) files.delete(file)
  return { files, git: [] }
}
