/** The verb reject: closes a task without landing its work. */
import type { Watch } from '../base/watch.ts'
import { type Rejected, type RejectInput, rejectTask } from '../closing/close-task.ts'
import { askTaskHook } from '../hooks/hooks.ts'
import { isOpen } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { stopTask } from '../runs/stop.ts'
import { requireTask } from '../tasks/find.ts'

/**
 * Ends the run, takes a last step, moves the folder into the trash and deletes the branch. Undo brings all of it back.
 */
export async function reject(
  ports: Ports,
  input: RejectInput,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Rejected> {
  const { repo, task } = await requireTask(ports, input.dir, input.task)
  if (isOpen(task)) await askTaskHook(ports, repo, task, 'preRemove', { onOutput: input.onOutput }, signal)
  const idle = await stopTask(ports, task, signal)
  return rejectTask({ ports, repo, task: idle.task, signal, watch }, input)
}
