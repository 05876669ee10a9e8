/**
 * The git folder of a workspace, written as files: a link that an agent put in the place of one of them would lead the
 * writes of a git that runs there to where they do not belong.
 */
import path from 'node:path'
import type { Place, Repo } from '../../core/model/repo.ts'
import type { Task } from '../../core/model/task.ts'
import { scratchIn } from '../../core/model/layout.ts'
import type { FileSystem } from '../../core/ports/files.ts'
import { workspacePlace } from '../../git/workspace-place.ts'
import { isReal } from '../../git/own.ts'
import { lookOfIndex } from '../capture/staged.ts'
import type { OpenVault } from '../open.ts'

/** Does nothing where the git folder is not as we made it: that is for `repair`. */
export async function writeOwnRef(
  files: FileSystem,
  { commonDir }: Place,
  ref: string,
  value: string,
): Promise<void> {
  const file = path.join(commonDir, ref)
  if (!(await isReal(files, commonDir, ref))) return
  const [there, lock] = [await files.readKind(file), await files.readKind(`${file}.lock`)]
  if (lock !== undefined || there === 'folder') return
  await files.makeFolder(path.dirname(file))
  await files.write(file, `${value}\n`)
}

/** Makes the workspace's index that of a commit. What it knows about the looks of files stays. */
export async function writeOwnIndex(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  commit: string,
  signal?: AbortSignal,
): Promise<void> {
  const { files } = vault
  const { gitDir } = workspacePlace(repo, task)
  const index = path.join(gitDir, 'index')
  if (!(await isReal(files, gitDir, 'index'))) return
  if ((await files.readKind(index)) === 'folder' || (await files.readKind(`${index}.lock`)) !== undefined)
    return
  const draft = scratchIn(vault.vault, `index-${task.uid}`)
  const read = (expect: readonly number[]) =>
    vault.exec({
      args: ['read-tree', '--reset', '-i', commit],
      gitDir: vault.vault,
      indexFile: draft,
      alternates: vault.alternates,
      cwd: vault.vault,
      durable: true,
      expect,
      signal,
    })
  // Also the lock of a git that was killed here: ours alone, under the task's lock.
  for (const left of [draft, `${draft}.lock`]) await files.remove(left)
  const usable = (await files.readKind(index)) === 'file'
  if (usable) await files.copy(index, draft)
  // One that is damaged, or split into several files, is made from nothing.
  if (!usable || (await read([128])).code !== 0) {
    await files.remove(draft)
    await read([])
  }
  // Taken before: somebody may write another one in its place at once.
  vault.quiet.set(index, lookOfIndex(draft))
  await files.move(draft, index)
  await files.sync([gitDir])
}
