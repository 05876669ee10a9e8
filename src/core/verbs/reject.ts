/** The verb reject: ends the run of a task and gives the task up. */
import { type Rejected, type RejectInput, rejectTask } from '../closing/close-task.ts'
import { askTaskHook } from '../hooks/hooks.ts'
import { isOpen } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { stopTask } from '../runs/stop.ts'
import { requireTask } from '../tasks/find.ts'

/**
 * Gives a task up: its run is ended, its last state becomes a step, its folder goes into the trash, its branch is
 * deleted. Undo brings all of it back.
 */
export async function reject(ports: Ports, input: RejectInput, signal?: AbortSignal): Promise<Rejected> {
  const { repo, task } = await requireTask(ports, input.dir, input.task)
  if (isOpen(task)) await askTaskHook(ports, repo, task, 'preRemove', { onOutput: input.onOutput }, signal)
  const idle = await stopTask(ports, task, signal)
  return rejectTask({ ports, repo, task: idle.task, signal }, input)
}
