import { AppError } from '../../core/errors.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { stepLine } from './log.ts'

/** `run [--task T] -- command…`: starts the task if it is not there. */
export function run(context: Context): Promise<Answer> {
  return execute(context, text(context.values, 'task'), true)
}

/** `exec TASK -- command…` */
export function exec(context: Context): Promise<Answer> {
  return execute(context, context.positionals[0], false)
}

async function execute(context: Context, task: string | undefined, starts: boolean): Promise<Answer> {
  if (context.rest.length === 0) {
    throw new AppError('WT_019', 'Which command?', {
      hint: 'Write it after two dashes: offshoot run -- npm test',
    })
  }
  const input = { repo: context.dir, task, starts, command: [...context.rest] }
  const emit = flag(context.values, 'json') ? context.emit : undefined
  const ran = await context.call('task.run', input, emit)
  if (ran.checkpoint) context.tell(`step ${stepLine(context, ran.checkpoint)}`)
  else context.tell('The command changed nothing.')
  return { json: { ...ran }, text: '', exitCode: ran.exitCode }
}
