/** Paths of a workspace that are never part of a step: files that offshoot copied or linked from the checkout. */
import path from 'node:path'
import { type BytePath, splitNul, toBytes } from '../../core/model/bytes.ts'
import type { Task } from '../../core/model/task.ts'
import { taskFiles, taskFolder } from '../../core/model/layout.ts'
import type { FileSystem } from '../../core/ports/files.ts'
import type { OpenVault } from '../open.ts'

const listOf = (folder: string) => path.join(folder, taskFiles.keptOut)

export async function keepOut(
  { files, vault }: OpenVault,
  task: Task,
  paths: readonly BytePath[],
): Promise<void> {
  const folder = taskFolder(vault, task)
  const all = new Set([...(await readKeptOut(files, folder)), ...paths])
  const text = Array.from(all, (file) => `${file}\0`).join('')
  await files.writeDurable(listOf(folder), toBytes(text), 0o600)
  await files.sync([folder])
}

export async function readKeptOut(files: FileSystem, folder: string): Promise<ReadonlySet<BytePath>> {
  const text = await files.readText(listOf(folder))
  return new Set(text === undefined ? [] : splitNul(Buffer.from(text)))
}
