/** The folders that we read objects from, besides that of the vault. */
import path from 'node:path'
import type { Repo } from '../../core/model/repo.ts'
import type { Task } from '../../core/model/task.ts'
import { readPlain } from '../../git/own.ts'
import { isPlainObjects } from '../../git/plain-objects.ts'
import type { OpenVault } from '../open.ts'

/** A clone's own objects count only while its single alternate is the user's repository, and only if all of them are files. */
export async function lenders(vault: OpenVault, repo: Repo, task: Task): Promise<readonly string[]> {
  if (task.isolation !== 'clone') return vault.alternates
  const objects = path.join(task.path, '.git', 'objects')
  const borrowed = await readPlain(vault.files, task.path, '.git/objects/info/alternates')
  const expected = `${path.join(repo.commonDir, 'objects')}\n`
  const isLent = borrowed === expected && (await isPlainObjects(objects))
  return isLent ? [...vault.alternates, objects] : vault.alternates
}
