/** `say`: sends a message to the agent at work. */
import type { Answer, Context } from '../command.ts'

export async function say(context: Context): Promise<Answer> {
  const [task, text = ''] = context.positionals
  const done = await context.call('task.say', { repo: context.dir, task, text })
  return { json: { ...done }, text: `The agent of ${done.task.id} gets it when its turn is over` }
}
