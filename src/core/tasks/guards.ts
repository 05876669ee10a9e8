/** Checks that no run and no unfinished verb is in the way. The caller holds the task's lock. */
import { AppError } from '../model/errors.ts'
import { isOpen, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { whyUnended } from './liveness.ts'

/** Throws during a run: the work of an agent cannot land, be removed or be changed while the agent still writes. */
export function requireIdle({ id, path, pending }: Task, orElse = ''): void {
  if (pending?.verb !== 'run') return
  throw new AppError('locked', `An agent is at work in ${id}.`, {
    path,
    hint: `Wait for it, or end it: offshoot stop ${id}.${orElse}`,
  })
}

/**
 * Throws when the task is marked as mid-verb. We hold its lock, so that process is dead; a new verb would overwrite the
 * mark, and recovery would never see it.
 */
export function requireSettled({ id, path, pending }: Task): void {
  if (!pending || pending.verb === 'run') return
  throw new AppError('locked', `The task ${id} is half-done: ${whyUnended(pending)}.`, {
    path,
    hint: 'offshoot recover finishes it or rolls it back, or says why it cannot.',
  })
}

/** The present record of the task; throws when the task has been closed, or is in the middle of a verb. */
export async function requireOpen(ports: Ports, named: Task): Promise<Task> {
  const task = await ports.store.findTaskByUid(named.uid)
  if (task && isOpen(task)) {
    requireSettled(task)
    return task
  }
  throw new AppError('noSuchTask', `The task ${named.id} is closed.`, {
    hint: 'offshoot list shows the open tasks.',
  })
}
