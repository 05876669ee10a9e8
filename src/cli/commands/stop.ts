/** `stop`: ends the run of a task. */
import type { Answer, Context } from '../command.ts'
import { counted } from '../../core/base/counted.ts'

export async function stop(context: Context): Promise<Answer> {
  const done = await context.call('task.stop', { repo: context.dir, task: context.positionals[0] })
  const { id, checkpoints } = done.task
  const words = done.stopped
    ? `Stopped ${id}; its work is kept in ${counted(checkpoints, 'step')}`
    : `Nothing runs in ${id}`
  return { json: { ...done }, text: words }
}
