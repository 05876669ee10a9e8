/**
 * Copies the objects of step 0 into the vault: from then on the steps need no other repository
 * (docs/adr/0008-vault-adopts-the-base.md).
 */
import path from 'node:path'
import type { Task } from '../../core/model/task.ts'
import { taskFiles, taskFolder, taskFoldersIn } from '../../core/model/layout.ts'
import type { OpenVault } from '../open.ts'
import { packInto } from './pack.ts'

/** Packs the objects of the tree that the vault lacks. Trees that other tasks adopted are not packed again. */
export async function adopt(vault: OpenVault, task: Task, tree: string, signal?: AbortSignal): Promise<void> {
  const mark = (folder: string) => path.join(folder, taskFiles.adopted)
  const own = mark(taskFolder(vault.vault, task))
  if ((await vault.files.readKind(own)) === 'file') return
  const tasks = taskFoldersIn(vault.vault)
  const others = await Promise.all(
    (await vault.files.readNames(tasks)).map((name) => vault.files.readText(mark(path.join(tasks, name)))),
  )
  // A mark that a power cut left empty says nothing.
  const held = [...new Set(others)].filter((other) => other !== undefined && other !== '')
  if (!held.includes(tree)) await packInto(vault, [tree, ...held.map((other) => `^${other}`)], signal)
  await vault.files.write(own, tree, 0o600)
}
