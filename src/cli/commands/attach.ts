/** `attach`: follows a detached run, or opens Claude Code in the workspace. */
import { AppError } from '../../core/model/errors.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { bin } from '../bin.ts'
import { type Answer, type Context, flag } from '../command.ts'
import { findOpenRun, follow, runLog } from '../run-log.ts'
import { personal } from '../run-view.ts'
import { summary } from './run.ts'

/** Follows the run that is under way; without one, opens the agent at the terminal. */
export async function attach(context: Context): Promise<Answer> {
  const { dir: repo, positionals } = context
  const { task } = await context.call('task.show', { repo, task: positionals[0] })
  return task.running ? lookOn(context, task) : open(context, task)
}

type Task = Output<'task.show'>['task']

/** Prints the run until it ends. Ctrl-C ends the printing, not the run. */
async function lookOn(context: Context, task: Task): Promise<Answer> {
  const log = runLog(context.home, task)
  const begin = findOpenRun(log)
  if (begin === undefined)
    throw new AppError('locked', `A run of ${task.id} is under way in another terminal.`, {
      hint: `Follow it there, or end it: offshoot stop ${task.id}`,
    })
  const view = flag(context.values, 'json') ? undefined : personal(context)
  const emit = view?.emit ?? context.emit
  const look = async () => {
    const { tasks } = await context.call('task.list', { repo: context.dir, all: true })
    return tasks.find(({ id }) => id === task.id) ?? task
  }
  const take = (line: object) => void emit(line as Parameters<typeof emit>[0])
  try {
    await follow(log, begin, take, async () => (await look()).running === true, context.signal)
  } finally {
    view?.close()
  }
  const ended = await look()
  if (ended.state === 'failed')
    throw new AppError(
      'agentFailed',
      `The run of ${task.id} failed: ${ended.reason ?? 'no reason was recorded'}`,
    )
  return { json: { task: ended }, text: summary(context, ended).join('\n') }
}

/**
 * Runs Claude Code in the workspace, at the terminal. A hook takes the steps; it is passed as a flag, so the user's
 * settings do not change.
 */
async function open(context: Context, task: Task): Promise<Answer> {
  const going =
    task.conversation !== undefined && task.agent === 'claude' ? [`--resume=${task.conversation}`] : []
  const command = ['claude', '--settings', JSON.stringify({ hooks: hooks() }), ...going]
  const ran = await context.call('task.run', { repo: context.dir, task: task.id, create: false, command })
  return { json: { ...ran }, text: summary(context, ran.task).join('\n'), exitCode: ran.exitCode }
}

function hooks(): object {
  const command = [process.execPath, bin, 'hook', 'claude', 'PostToolUse', '--quiet']
    .map((word) => `'${word}'`)
    .join(' ')
  return { PostToolUse: [{ matcher: '*', hooks: [{ type: 'command', command }] }] }
}
