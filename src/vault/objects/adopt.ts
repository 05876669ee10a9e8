/** A copy of what step 0 holds: from then on the steps need nobody else's objects. */
import path from 'node:path'
import type { Task } from '../../core/model/task.ts'
import { taskFiles, taskFolder, taskFoldersIn } from '../../core/model/layout.ts'
import type { OpenVault } from '../open.ts'
import { packInto } from './pack.ts'

/** Packs what the vault does not hold yet of the tree; trees adopted for other tasks are not packed again. */
export async function adopt(vault: OpenVault, task: Task, tree: string, signal?: AbortSignal): Promise<void> {
  const mark = (folder: string) => path.join(folder, taskFiles.adopted)
  const own = mark(taskFolder(vault.vault, task))
  if ((await vault.files.readKind(own)) === 'file') return
  const tasks = taskFoldersIn(vault.vault)
  const others = await Promise.all(
    (await vault.files.readNames(tasks)).map((name) => vault.files.readText(mark(path.join(tasks, name)))),
  )
  // One that a power cut left empty tells nothing.
  const held = [...new Set(others)].filter((other) => other !== undefined && other !== '')
  if (!held.includes(tree)) await packInto(vault, [tree, ...held.map((other) => `^${other}`)], signal)
  await vault.files.write(own, tree)
}
