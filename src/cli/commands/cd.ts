import type { Answer, Context } from '../command.ts'

/** Prints the path raw: a shell reads it. */
export async function cd(context: Context): Promise<Answer> {
  const { task } = await context.call('task.show', { repo: context.dir, task: context.positionals[0] })
  return { json: { path: task.path }, text: task.path }
}
