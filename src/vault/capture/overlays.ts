/** The overlay of each task: kept in memory between two captures, and in a file beside the task's index. */
import path from 'node:path'
import type { BytePath } from '../../core/model/bytes.ts'
import type { Step } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import { taskFiles, taskFolder } from '../../core/model/layout.ts'
import { firstOf } from '../journal/steps.ts'
import { compareTrees, type Leaf } from '../objects/tree.ts'
import type { OpenVault } from '../open.ts'
import { indexedTrees } from './indexed.ts'
import { findModuleHead } from './modules.ts'
import { appendOverlay, type Overlay, overlayLine, readOverlay, type Seen } from './overlay.ts'
import { isPointer } from './staged.ts'

/** The overlay of the last step, `tip`. */
export async function readTaskOverlay(vault: OpenVault, task: Task, tip: Step): Promise<Overlay> {
  const known = vault.overlays.get(task.uid)
  if (known?.tip === tip.commit) return known
  return (await readOverlay(fileOf(vault, task), tip.commit)) ?? rebuildOverlay(vault, task, tip)
}

/** Keeps the overlay, with the news of a capture, as that of the step. */
export async function noteOverlay(
  vault: OpenVault,
  task: Task,
  overlay: Overlay,
  { commit }: Step,
  news: ReadonlyMap<BytePath, Seen>,
): Promise<void> {
  for (const [file, seen] of news) overlay.seen.set(file, seen)
  const fresh = overlay.isNoted && overlay.tip === commit && news.size === 0
  vault.overlays.set(task.uid, { tip: commit, seen: overlay.seen, isNoted: true })
  if (fresh) return
  const line = overlayLine(commit, overlay.isNoted ? news : overlay.seen)
  // Without `isNoted` the file differs from this overlay: lines may be missing or cut off, so it is written whole.
  if (overlay.isNoted) await appendOverlay(fileOf(vault, task), line)
  else await vault.files.write(fileOf(vault, task), line, 0o600)
}

/**
 * Records files that we wrote to the workspace ourselves; the next step reads them again. A submodule's pointer is not
 * written to any file: it counts until another commit is checked out in the submodule.
 */
export async function doubtOverlay(
  vault: OpenVault,
  task: Task,
  tip: Step,
  written: ReadonlyMap<BytePath, Leaf | null>,
): Promise<void> {
  const overlay = await readTaskOverlay(vault, task, tip)
  for (const [file, leaf] of written) {
    const look = isPointer(leaf) ? await findModuleHead(vault.files, task.path, file) : undefined
    overlay.seen.set(file, { leaf, look })
  }
  vault.overlays.set(task.uid, { ...overlay, isNoted: false })
}

function fileOf({ vault }: OpenVault, task: Task): string {
  return path.join(taskFolder(vault, task), taskFiles.overlay)
}

/** Makes a lost overlay again from the trees: every file that differs from step 0 is then read once more. */
async function rebuildOverlay(vault: OpenVault, task: Task, tip: Step): Promise<Overlay> {
  const first = await firstOf(vault, task, tip)
  const seen = new Map<BytePath, Seen>()
  // An index that was made again lists another tree than that of step 0.
  const trees = [first.tree, ...(await indexedTrees(vault.files, taskFolder(vault.vault, task)))]
  for (const tree of trees) {
    for (const [file, { to }] of await compareTrees(vault.objects, tree, tip.tree)) {
      seen.set(file, { leaf: to, look: undefined })
    }
  }
  return { tip: tip.commit, seen, isNoted: false }
}
