/** What changed in a workspace since its last step, captured. */
import { lstat } from 'node:fs/promises'
import type { SkippedPath } from '../core/ports.ts'
import { type BytePath, below, toText } from './bytes.ts'
import { allPaths, namedPaths, type Scope } from './candidates.ts'
import { capture, unreadable } from './capture.ts'
import { eachOf } from './each.ts'
import { lookOf, type Overlay, type Seen } from './overlay.ts'
import { type Changed, changeTree, findLeaf, type Leaf } from './tree.ts'

export interface Difference extends Changed {
  readonly skipped: SkippedPath[]
  /** For the overlay: how each captured file looked. */
  readonly news: Map<BytePath, Seen>
}

/** The tree of the workspace as it is now, against `tree`, and what could not be taken. */
export async function difference(
  scope: Scope,
  tree: string,
  overlay: Overlay,
  named?: readonly string[],
  signal?: AbortSignal,
): Promise<Difference> {
  const candidates =
    (named && (await namedPaths(scope, tree, overlay, named, signal))) ??
    (await allPaths(scope, tree, overlay, signal))
  const now = BigInt(Date.now()) * 1_000_000n
  const changes = new Map<BytePath, Leaf | null>()
  const news = new Map<BytePath, Seen>()
  const skipped = [...candidates.skipped]
  const isThere = realFolders(scope.workspace)
  await eachOf(candidates.files, 8, async (file) => {
    signal?.throwIfAborted()
    const known = overlay.seen.get(file)
    const there = await isThere(parentOf(file))
    if (known && there && (await looksSame(scope.workspace, file, known, now))) {
      changes.set(file, known.leaf)
      return
    }
    const taken = there ? await capture(scope, file) : ({ kind: 'gone' } as const)
    if (taken.kind === 'skipped') skipped.push({ path: toText(file), why: taken.why })
    // Of an unreadable file we know nothing new: what the last step has of it stays.
    if (taken.kind === 'skipped' && taken.why === unreadable) return
    const before = taken.kind === 'file' ? undefined : await findLeaf(scope.objects, tree, file)
    if (taken.kind === 'folder' && before?.mode === '160000') return
    const leaf = taken.kind === 'file' ? taken.leaf : null
    if (leaf === null && !before && !known) return
    changes.set(file, leaf)
    news.set(file, { leaf, look: taken.kind === 'file' ? lookOf(taken.stat, now) : undefined })
  })
  const changed = await changeTree(scope.objects, tree, changes)
  return { ...changed, skipped: skipped.toSorted((a, b) => (a.path < b.path ? -1 : 1)), news }
}

function parentOf(file: BytePath): BytePath {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')))
}

/** Tells of folders whether they are there; behind a link in the place of one is something else. Asks once for each. */
function realFolders(workspace: string): (folder: BytePath) => Promise<boolean> {
  const asked = new Map<BytePath, Promise<boolean>>([['', Promise.resolve(true)]])
  const ask = async (folder: BytePath) => {
    if (!(await isThere(parentOf(folder)))) return false
    try {
      return (await lstat(below(workspace, folder))).isDirectory()
    } catch (error) {
      // One that we may not look at is there.
      return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
    }
  }
  const isThere = (folder: BytePath): Promise<boolean> => {
    const known = asked.get(folder) ?? ask(folder)
    asked.set(folder, known)
    return known
  }
  return isThere
}

async function looksSame(workspace: string, file: BytePath, known: Seen, now: bigint): Promise<boolean> {
  const stat = await lstat(below(workspace, file), { bigint: true }).catch(() => undefined)
  if (!stat) return known.leaf === null
  return known.look !== undefined && known.look === lookOf(stat, now)
}
