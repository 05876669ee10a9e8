/**
 * Writes to the git folder of a workspace as plain files: if an agent replaced one of them by a link, a git that runs
 * there would follow the link and write outside of the workspace.
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

/** Does nothing if the git folder is not as we made it: `repair` handles that. */
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
  await files.write(file, `${value}\n`, 0o600)
}

/** Sets the workspace's index to a commit. Git keeps the stats of files that did not change. */
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
  // A killed git may have left its lock. The task's lock is ours, so no other git uses this draft.
  for (const left of [draft, `${draft}.lock`]) await files.remove(left)
  const usable = (await files.readKind(index)) === 'file'
  if (usable) await files.copy(index, draft)
  // Git cannot reset an index that is damaged or split: it is made from nothing.
  if (!usable || (await read([128])).code !== 0) {
    await files.remove(draft)
    await read([])
  }
  // The stat is read before the rename: the agent may replace the index right after it.
  vault.quiet.set(index, lookOfIndex(draft))
  await files.move(draft, index)
  await files.sync([gitDir])
}
