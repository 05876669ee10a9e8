/**
 * The trees that the index of a task was made from, besides that of step 0. If the overlay is lost, every file that
 * differs from one of these trees must be read again; git says of all others whether they are as in the last step.
 */
import path from 'node:path'
import type { FileSystem } from '../../core/ports/files.ts'

export async function indexedTrees(files: FileSystem, folder: string): Promise<string[]> {
  return ((await files.readText(path.join(folder, 'indexed'))) ?? '').split('\n').filter(Boolean)
}

/** Must be called before the new index takes its place: a crash in between must not leave a tree out. */
export async function noteIndexed(files: FileSystem, folder: string, tree: string): Promise<void> {
  const trees = new Set([...(await indexedTrees(files, folder)), tree])
  await files.writeDurable(path.join(folder, 'indexed'), Buffer.from(`${[...trees].join('\n')}\n`), 0o600)
  await files.sync([folder])
}
