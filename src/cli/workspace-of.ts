/** Finds the workspace of the task that a command names. */
import { AppError } from '../core/model/errors.ts'
import type { Output } from '../protocol/schemas/index.ts'
import type { Context } from './command.ts'
import { isClosed } from './output.ts'

/** The task whose workspace is there. Throws `notFound` when the task is closed, or the workspace is gone. */
export async function workspaceOf(context: Context): Promise<Output<'task.show'>['task']> {
  const { task } = await context.call('task.show', { repo: context.dir, task: context.positionals[0] })
  if (isClosed(task)) throw await closedError(context, task)
  if (task.dirty !== null) return task
  throw new AppError('notFound', `The workspace of ${task.id} is gone.`, {
    path: task.path,
    hint: `offshoot start ${task.id} makes it again.`,
  })
}

/** A closed task has no workspace, unless the operation that closed it is undone. */
async function closedError(
  context: Context,
  { id, state, path }: Output<'task.show'>['task'],
): Promise<AppError> {
  const { operations } = await context.call('system.ops', { repo: context.dir })
  const closing = operations.find(
    ({ task, verb, undone, final, expired }) =>
      task === id && verb !== 'undo' && verb !== 'run' && !undone && !expired && final === undefined,
  )
  const back = closing && `offshoot undo ${closing.id.slice(0, 6)} opens ${id} again, with its workspace.`
  return new AppError('notFound', `${id} was ${state}, and its workspace is gone.`, {
    path,
    hint: back ?? 'offshoot list shows the open tasks.',
  })
}
