/** The verb reject: closes a task without landing its work. */
import type { Watch } from '../base/watch.ts'
import { type Rejected, type RejectInput, rejectTask } from '../closing/close-task.ts'
import { askTaskHook } from '../hooks/hooks.ts'
import { AppError } from '../model/errors.ts'
import type { Repo } from '../model/repo.ts'
import { isOpen } from '../model/task.ts'
import { operationsOf } from '../operations/known.ts'
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
  if (input.batch !== undefined) await requireAccept(ports, repo, input.batch)
  if (isOpen(task)) await askTaskHook(ports, repo, task, 'preRemove', { onOutput: input.onOutput }, signal)
  const idle = await stopTask(ports, task, signal)
  return rejectTask({ ports, repo, task: idle.task, signal, watch }, input)
}

/** Only an accept has siblings to be rejected with it. */
async function requireAccept(ports: Pick<Ports, 'store'>, repo: Repo, id: string): Promise<void> {
  const known = (await operationsOf(ports, repo)).find((operation) => operation.id === id)
  if (known?.verb === 'accept' && !known.undone) return
  throw new AppError('notFound', `There is no accept ${id} that this reject could belong to.`, {
    hint: 'offshoot ops lists the operations.',
  })
}
