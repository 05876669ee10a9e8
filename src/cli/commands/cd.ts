/** `cd`: prints the path of a workspace. */
import { AppError } from '../../core/model/errors.ts'
import type { Answer, Context } from '../command.ts'

/** Prints the path unescaped, because a shell reads it. */
export async function cd(context: Context): Promise<Answer> {
  const { task } = await context.call('task.show', { repo: context.dir, task: context.positionals[0] })
  if (task.dirty === null) {
    throw new AppError('notFound', `The workspace of ${task.id} is gone.`, {
      path: task.path,
      hint: `offshoot start ${task.id} makes it again.`,
    })
  }
  return { json: { path: task.path }, text: task.path }
}
