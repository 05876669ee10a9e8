/** Fills an empty workspace with the files of a step, byte for byte. */
import path from 'node:path'
import type { Repo } from '../../core/model/repo.ts'
import type { Task } from '../../core/model/task.ts'
import { workspacePlace } from '../../git/workspace-place.ts'
import { noteIndexed } from '../capture/indexed.ts'
import type { OpenVault } from '../open.ts'
import { taskFolder } from '../place.ts'

/**
 * Git writes the files, in a git folder that converts nothing and runs no hook, so that they are byte for byte those of
 * the step. The index that git makes becomes the task's index, with the stat of every file.
 */
export async function refill(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  tree: string,
  signal?: AbortSignal,
): Promise<void> {
  const { files } = vault
  const folder = taskFolder(vault.vault, task)
  const index = path.join(folder, 'index')
  const scratch = path.join(folder, 'room')
  await files.remove(scratch)
  for (const name of ['objects', 'refs', 'info']) await files.makeFolder(path.join(scratch, name), 0o700)
  for (const name of ['config', 'info/attributes']) {
    await files.copy(path.join(vault.vault, name), path.join(scratch, name))
  }
  const sparse = await sparsePatterns(vault, repo, task, signal)
  if (sparse !== undefined) await files.write(path.join(scratch, 'info', 'sparse-checkout'), sparse)
  await files.write(path.join(scratch, 'HEAD'), 'ref: refs/heads/none\n')
  // A killed git may have left its lock. The task's lock is ours, so no other git uses this index.
  for (const left of ['.new', '.new.lock']) await files.remove(index + left)
  await vault.exec({
    args: ['read-tree', '--reset', '-u', tree],
    gitDir: scratch,
    objectDir: path.join(vault.vault, 'objects'),
    alternates: vault.alternates,
    workTree: task.path,
    indexFile: `${index}.new`,
    cwd: task.path,
    settings: sparse === undefined ? [] : [['core.sparseCheckout', 'true']],
    signal,
  })
  await files.remove(`${index}.aged`)
  await noteIndexed(files, folder, tree)
  await files.rename(`${index}.new`, index)
  await files.remove(scratch)
}

/** The sparse patterns of a workspace; undefined when it has all files. */
async function sparsePatterns(
  { exec, files }: OpenVault,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { gitDir } = workspacePlace(repo, task)
  const patterns = await files.readText(path.join(gitDir, 'info', 'sparse-checkout'))
  if (patterns === undefined) return undefined
  const args = ['config', '--type=bool', 'core.sparseCheckout']
  const { stdout } = await exec({ args, gitDir, cwd: gitDir, expect: [1], signal })
  return stdout.toString().trim() === 'true' ? patterns : undefined
}
