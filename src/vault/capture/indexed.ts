/**
 * The trees whose files the index of a task has ever been made from, step 0 left out. Should the overlay be lost, what
 * differs from any of them has to be looked at: of the others, what git finds unchanged is as the last step has it.
 */
import path from 'node:path'
import type { FileSystem } from '../../core/ports/files.ts'
import { taskFiles } from '../../core/model/layout.ts'

export async function indexedTrees(files: FileSystem, folder: string): Promise<string[]> {
  return ((await files.readText(path.join(folder, taskFiles.indexed))) ?? '').split('\n').filter(Boolean)
}

/** To be called before the index takes its place. */
export async function noteIndexed(files: FileSystem, folder: string, tree: string): Promise<void> {
  const trees = new Set([...(await indexedTrees(files, folder)), tree])
  await files.writeDurable(
    path.join(folder, taskFiles.indexed),
    Buffer.from(`${[...trees].join('\n')}\n`),
    0o600,
  )
  await files.sync([folder])
}
