import { AppError, appError } from './errors.ts'
import type { Ports } from './ports.ts'
import { finishRemove } from './remove.ts'
import { taskLock } from './start.ts'
import type { Task } from './task.ts'
import { undoRecreate, undoStart } from './workspace.ts'

export interface Recovery {
  readonly task: string
  readonly verdict: 'finished' | 'rolled back' | 'left alone'
  readonly why: string
}

/**
 * Finishes or rolls back what died half-way. Runs before every command that writes; with nothing to do it is one
 * read of the store. What cannot be judged is left alone and told.
 */
export async function recover(ports: Ports, signal?: AbortSignal): Promise<Recovery[]> {
  const told: Recovery[] = []
  for (const task of ports.store.readPendingTasks()) {
    signal?.throwIfAborted()
    try {
      told.push(await settle(ports, task))
    } catch (error) {
      told.push({ task: task.id, verdict: 'left alone', why: appError(error).message })
    }
  }
  return told
}

/** Getting the task's lock proves that whoever began the verb is dead; its git children may not be. */
function settle(ports: Ports, seen: Task): Promise<Recovery> {
  return ports.locks.hold(taskLock(seen.repo, seen.id), { verb: 'recover', waitMs: 0 }, async () => {
    const task = ports.store.findTaskByUid(seen.uid)
    if (!task?.pending) return { task: seen.id, verdict: 'left alone', why: 'It ended by itself.' }
    const record = ports.store.findRepoById(task.repo)
    if (!record) throw new AppError('WT_005', 'Its repository is not known.')
    const place = await ports.git.locate(record.commonDir)
    const { pending } = task
    await ports.processes.endChildren(pending.owner)
    const why = `${pending.verb} by process ${pending.owner.pid} did not end`
    if (pending.verb === 'start') await undoStart(ports, place, task, why)
    if (pending.verb === 'recreate') await undoRecreate(ports, place, task, why)
    if (pending.verb === 'remove') await finishRemove(ports, place, task, pending)
    return { task: task.id, verdict: pending.verb === 'remove' ? 'finished' : 'rolled back', why }
  })
}
