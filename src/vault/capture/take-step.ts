/** Takes a step: the workspace as it is now, or for a rewind an older step once more. */
import { toText } from '../../core/model/bytes.ts'
import type { Follow } from '../../core/model/progress.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Snapshot, StepNote } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import { commitStep, stepsOf } from '../journal/steps.ts'
import { compareTrees, type FileChange } from '../objects/tree.ts'
import type { OpenVault } from '../open.ts'
import { type AgainstTip, compareWithTip } from './against-tip.ts'
import { lastStep } from './first-step.ts'
import { noteOverlay, readTaskOverlay } from './overlays.ts'

export async function takeStep(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  note: StepNote,
  paths?: readonly string[],
  follow?: Follow,
): Promise<Snapshot> {
  const { tip, overlay, found } =
    note.rewindTo === undefined
      ? await compareWithTip(vault, repo, task, paths, follow)
      : await planRewind(vault, repo, task, note.rewindTo)
  const created = found.files.length > 0 || note.rewindTo !== undefined || note.basis !== undefined
  const n = tip.n + 1
  const step = created
    ? await commitStep(vault, task, found.tree, tip.commit, { ...note, n, skipped: found.skipped })
    : tip
  await noteOverlay(vault, task, overlay, step, found.news)
  const files = found.files.map((file) => ({ ...file, path: toText(file.path) }))
  return { step, created, files, skipped: found.skipped }
}

/** A rewind repeats the older step exactly; files that its rules no longer ignore do not join it. */
async function planRewind(vault: OpenVault, repo: Repo, task: Task, to: number): Promise<AgainstTip> {
  const tip = await lastStep(vault, repo, task)
  const [target = tip] = await stepsOf(vault, tip, to)
  const changes = await compareTrees(vault.objects, tip.tree, target.tree)
  const files = Array.from(changes, ([file, change]): FileChange => {
    return { path: file, status: !change.from ? 'added' : change.to ? 'modified' : 'deleted' }
  })
  const overlay = await readTaskOverlay(vault, task, tip)
  return { tip, overlay, found: { tree: target.tree, files, skipped: [], news: new Map() } }
}
