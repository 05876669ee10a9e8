/** Captures the changes of a workspace since its last step. */
import { eachOf } from '../../core/base/concurrency.ts'
import { below, type BytePath, toText } from '../../core/model/bytes.ts'
import type { Follow } from '../../core/model/progress.ts'
import type { SkippedPath } from '../../core/model/step.ts'
import { type Changed, changeTree, findLeaf, type Leaf } from '../objects/tree.ts'
import { allPaths, namedPaths, type Scope } from './candidates.ts'
import { capture, unknownContent } from './capture.ts'
import { parentOf, realFolders } from './folders.ts'
import { findModuleHead } from './modules.ts'
import { findStat, settledLook, type Overlay, type Seen } from './overlay.ts'
import { isPointer } from './staged.ts'

export interface Difference extends Changed {
  readonly skipped: SkippedPath[]
  /** For the overlay: the stat of each captured file. */
  readonly news: Map<BytePath, Seen>
}

/** The workspace's tree as it is now, its differences to `tree`, and the paths that could not be captured. */
export async function difference(
  scope: Scope & { readonly keptOut: ReadonlySet<BytePath> },
  tree: string,
  overlay: Overlay,
  named?: readonly string[],
  { signal, count }: Follow = {},
): Promise<Difference> {
  const candidates =
    (named && (await namedPaths(scope, tree, overlay, named, signal))) ??
    (await allPaths(scope, tree, overlay, signal))
  const now = BigInt(Date.now()) * 1_000_000n
  const changes = new Map<BytePath, Leaf | null>()
  const news = new Map<BytePath, Seen>()
  const skipped = [...candidates.skipped]
  const isThere = realFolders(scope.workspace)
  const isInside = (file: BytePath): boolean =>
    file !== '' && (candidates.fresh.has(parentOf(file)) || isInside(parentOf(file)))
  const held = scope.files.hold(scope.workspace)
  const look = async (file: BytePath) => {
    if (scope.keptOut.has(file)) return
    const known = overlay.seen.get(file)
    // Files in a folder that has become a submodule since count as deleted: they belong to the submodule now.
    const there = isThere(parentOf(file)) && !isInside(file)
    if (known && there && looksSame(scope.workspace, file, known, now)) {
      changes.set(file, known.leaf)
      return
    }
    const taken = there ? await capture({ ...scope, held }, file) : ({ kind: 'gone' } as const)
    if (taken.kind === 'skipped') skipped.push({ path: toText(file), why: taken.why })
    // We know nothing new of such a file, so the last step's content of it stays.
    if (taken.kind === 'skipped' && unknownContent.has(taken.why)) return
    const before = taken.kind === 'file' ? undefined : await findLeaf(scope.objects, tree, file)
    const pointer = [known?.leaf, before, candidates.modules.get(file)].find(isPointer)
    if (taken.kind === 'folder' && pointer) {
      const seen = await pointerNow(scope, file, pointer, known)
      changes.set(file, seen.leaf)
      if (seen.look !== known?.look) news.set(file, seen)
      return
    }
    const leaf = taken.kind === 'file' ? taken.leaf : null
    if (leaf === null && !before && !known) return
    changes.set(file, leaf)
    news.set(file, { leaf, look: taken.kind === 'file' ? settledLook(taken.stat, now) : undefined })
  }
  try {
    const { files } = candidates
    await eachOf(files, 8, look, { signal, onEach: count?.(files.size) })
  } finally {
    held.close()
  }
  dropReplaced(changes)
  const changed = await changeTree(scope.objects, tree, changes)
  return { ...changed, skipped: skipped.toSorted((a, b) => (a.path < b.path ? -1 : 1)), news }
}

/**
 * A submodule's pointer is the HEAD of its checkout. If HEAD has not moved since the last capture, the pointer of the
 * step stays: an update or a rewind changes the pointer, and leaves the checkout alone.
 */
async function pointerNow(
  { files, workspace }: Scope,
  folder: BytePath,
  pointer: Leaf,
  known: Seen | undefined,
): Promise<Seen> {
  const head = await findModuleHead(files, workspace, folder)
  if (head === undefined || head === known?.look) return { leaf: pointer, look: known?.look }
  return { leaf: { mode: '160000', oid: head }, look: head }
}

/** Drops a submodule's pointer if files were captured in its folder. */
function dropReplaced(changes: Map<BytePath, Leaf | null>): void {
  for (const [pointer, leaf] of changes) {
    if (!isPointer(leaf)) continue
    for (const [file, inside] of changes) {
      if (inside && file.startsWith(`${pointer}/`)) changes.delete(pointer)
    }
  }
}

function looksSame(workspace: string, file: BytePath, known: Seen, now: bigint): boolean {
  const stat = findStat(below(workspace, file))
  if (!stat) return known.leaf === null
  return known.look !== undefined && known.look === settledLook(stat, now)
}
