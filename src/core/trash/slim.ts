/** Deletes the folder of a closed task from the trash, where the vault can make it again. */
import { now } from '../base/time.ts'
import { trashParts } from '../model/layout.ts'
import { isOpen } from '../model/task.ts'
import { holdFree } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'
import type { Work } from '../tasks/work.ts'

const folderOf = (trash: string) => trashParts(trash).workspace
const leavingOf = (trash: string) => trashParts(trash).leaving

/**
 * Deletes the folder of a closed task from the trash if its last step holds every file; an undo makes the folder again. It
 * is renamed first, so that an undo never finds a half-deleted folder. Answers whether it was deleted.
 */
export function slim(work: Work): Promise<boolean> {
  const { ports, task: named, signal } = work
  return holdFree(ports, [named], { verb: 'prune', signal }, async ([held]) => {
    const task = held && (await ports.store.findTaskByUid(held.uid))
    if (!task || isOpen(task) || task.pending || task.trash === undefined) return false
    const [folder, leaving] = [folderOf(task.trash), leavingOf(task.trash)]
    const leaves = await canLeave({ ...work, task })
    if (leaves) {
      await ports.files.remove(leaving)
      await ports.files.rename(folder, leaving)
    }
    const bytes = await ports.disk.readUsage(leaving)
    if (bytes === 0) return leaves
    await ports.files.remove(leaving)
    // Last, because a full disk has space for the event only now.
    await append(ports, task.uid, { type: 'trash.slimmed', bytes }, now(ports))
    return leaves
  })
}

/** Whether the vault can make the folder again. A clone stays, because it has commits of the agent that no step holds. */
export async function canLeave({ ports, repo, task, signal }: Work): Promise<boolean> {
  if (task.isolation !== 'worktree' || task.trash === undefined) return false
  const folder = folderOf(task.trash)
  if ((await ports.files.readKind(folder)) !== 'folder') return false
  return ports.steps.isKept(repo, task, folder, signal)
}
