/** Makes step 0 anew with what `postStart` wrote, so that none of it counts as the agent's work. */
import type { Repo } from '../../core/model/repo.ts'
import type { Task } from '../../core/model/task.ts'
import { taskFolder } from '../../core/model/layout.ts'
import { commitStep, findOrigin, noteFirst, setUp } from '../journal/steps.ts'
import type { OpenVault } from '../open.ts'
import { compareWithTip } from './against-tip.ts'
import { noteIndexed } from './indexed.ts'
import { noteOverlay } from './overlays.ts'

/** The new step 0 comes after the old one, so that the ref of the task only moves forward. */
export async function seedSetup(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<boolean> {
  const { tip, overlay, found } = await compareWithTip(vault, repo, task, undefined, { signal })
  if (tip.n > 0 || found.files.length === 0) return false
  // The index lacks what was written since: if the overlay is lost, these files are read again.
  await noteIndexed(vault.files, taskFolder(vault.vault, task), (await findOrigin(vault, tip)).made.tree)
  const note = { n: 0, tool: setUp, summary: 'what it wrote', skipped: found.skipped }
  const first = await commitStep(vault, task, found.tree, tip.commit, note, task)
  vault.seeding.set(task.uid, Promise.resolve(first))
  await noteFirst(vault, task, first)
  await noteOverlay(vault, task, overlay, first, found.news)
  return true
}
