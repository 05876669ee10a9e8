/** Puts a workspace to a step, and has the next capture look again at what was written. */
import path from 'node:path'
import { appError } from '../../core/model/errors.ts'
import type { Follow } from '../../core/model/progress.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Step } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import { agedMark, shadowAside, taskFiles, taskFolder, trashAsideOf } from '../../core/model/layout.ts'
import { doubtOverlay } from '../capture/overlays.ts'
import { findTip } from '../journal/steps.ts'
import type { OpenVault } from '../open.ts'
import { refill } from './refill.ts'
import { restore, type RestoreScope } from './restore.ts'

/** Writes the files of `to` into a workspace that holds those of `from` now; null: it is empty. */
export async function restoreStep(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  from: Step | null,
  to: Step,
  follow: Follow = {},
): Promise<void> {
  if (from === null) return fill(vault, repo, task, to, follow)
  const restored = await restore(restoreScope(vault, task), from.tree, to.tree, follow)
  // Restored files stay in the steps even if a rule of that step ignores them: the next capture must see them.
  const tip = await findTip(vault, task)
  if (tip) await doubtOverlay(vault, task, tip, restored)
}

/** Git refuses to write some files of a step, for example a link named .gitmodules. Without git it is slower. */
async function fill(vault: OpenVault, repo: Repo, task: Task, to: Step, follow: Follow): Promise<void> {
  const error = await refill(vault, repo, task, to.tree, follow.signal).catch(appError)
  if (!error) return
  if (error.kind === 'cancelled' || error.problem === 'diskFull') throw error
  await restore(restoreScope(vault, task), null, to.tree, follow)
  const index = path.join(taskFolder(vault.vault, task), taskFiles.index)
  for (const name of [index, agedMark(index)]) await vault.files.remove(name)
}

export function restoreScope(vault: OpenVault, task: Task): OpenVault & RestoreScope {
  const aside = task.shadow ? shadowAside(task.shadow.gitDir) : trashAsideOf(task.path)
  return { ...vault, workspace: task.path, aside }
}
