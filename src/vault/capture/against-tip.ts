/** Compares a workspace with its last step. */
import path from 'node:path'
import type { Follow } from '../../core/model/progress.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Step } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import { taskFiles, taskFolder } from '../../core/model/layout.ts'
import { workspacePlace } from '../../git/workspace-place.ts'
import { findTip, firstOf } from '../journal/steps.ts'
import type { OpenVault } from '../open.ts'
import { ageIndex } from './aged-index.ts'
import { lastStep } from './first-step.ts'
import { readKeptOut } from './kept-out.ts'
import type { Overlay } from './overlay.ts'
import { readTaskOverlay } from './overlays.ts'
import type { ScanScope } from './scan-scope.ts'
import { type Difference, difference } from './snapshot.ts'
import { isUntouched } from './untouched.ts'

export interface AgainstTip {
  readonly tip: Step
  readonly overlay: Overlay
  readonly found: Difference
}

/** `paths` names the files that may have changed; without it all are checked. */
export async function compareWithTip(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  paths?: readonly string[],
  follow: Follow = {},
): Promise<AgainstTip> {
  const { signal } = follow
  const tip = await lastStep(vault, repo, task, signal)
  const overlay = await readTaskOverlay(vault, task, tip)
  const scope = scopeOf(vault, task)
  if (!paths) await ageIndex(scope, async () => (await firstOf(vault, task, tip)).tree, signal)
  const keptOut = await readKeptOut(vault.files, taskFolder(vault.vault, task))
  const own = workspacePlace(repo, task).gitDir
  const found = await difference({ ...scope, own, keptOut }, tip.tree, overlay, paths, follow)
  return { tip, overlay, found }
}

/** The last step, if a quick check finds that nothing has changed since; it may find nothing for a quiet workspace. */
export async function findQuiet(vault: OpenVault, task: Task): Promise<Step | undefined> {
  const tip = await findTip(vault, task)
  if (!tip) return undefined
  const overlay = await readTaskOverlay(vault, task, tip)
  const { index } = scopeOf(vault, task)
  return (await isUntouched(task.path, index, overlay, vault.objects.oidBytes)) ? tip : undefined
}

export function scopeOf(vault: OpenVault, task: Task): OpenVault & ScanScope {
  const index = path.join(taskFolder(vault.vault, task), taskFiles.index)
  return { ...vault, workspace: task.path, index }
}
