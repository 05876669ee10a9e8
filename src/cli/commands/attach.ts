/** `attach`: follows a detached run, or opens Claude Code in the workspace. */
import type { Emit } from '../../api/views.ts'
import { AppError, appError } from '../../core/model/errors.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { canAsk } from '../ask.ts'
import { bin } from '../bin.ts'
import { type Answer, type Context, flag } from '../command.ts'
import { printable } from '../output.ts'
import { personal } from '../run-view.ts'
import { askThere } from './answer.ts'
import { summary } from './run.ts'

/** Follows the run that is under way or waits for its turn; without one, opens the agent at the terminal. */
export async function attach(context: Context): Promise<Answer> {
  const { dir: repo, positionals } = context
  const { task } = await context.call('task.show', { repo, task: positionals[0] })
  return task.running || task.queued ? lookOn(context, task) : open(context, task)
}

type Task = Output<'task.show'>['task']

/** Prints the run until it ends. Ctrl-C ends the printing, not the run. */
async function lookOn(context: Context, task: Task): Promise<Answer> {
  const view = flag(context.values, 'json') ? undefined : personal(context)
  const emit = view?.emit ?? context.emit
  let decided = new AbortController()
  const take: Emit = (told) => {
    // An agent has one question at a time: this is the end of it, whoever answered.
    if (told.event === 'decided') decided.abort()
    // The run has asked at its own terminal, or nobody: what waits for an answer is told by `waiting`.
    if (told.event !== 'asked' || !view) void emit(told)
    if (told.event === 'waiting' && view && canAsk()) {
      decided = new AbortController()
      view.pause(answerThere(context, task, told.question, decided.signal))
    }
  }
  try {
    const { task: ended } = await context.call('task.attach', { repo: context.dir, task: task.id }, take)
    return { json: { task: ended }, text: summary(context, ended).join('\n') }
  } catch (thrown) {
    if (!context.signal.aborted) throw thrown
    const words = `${task.id} goes on by itself: offshoot stop ${task.id}`
    return { json: { task }, text: words, exitCode: 130 }
  } finally {
    decided.abort()
    view?.close()
  }
}

/** Asks the question at this terminal until it is decided, here or elsewhere: the log tells earlier ones, too. */
async function answerThere(
  context: Context,
  { id }: Task,
  question: string,
  decided: AbortSignal,
): Promise<void> {
  try {
    const open = await context.call('task.answer', { repo: context.dir, task: id, question })
    const answered = await askThere(context, open, AbortSignal.any([context.signal, decided]))
    if (answered) context.tell(answered.text)
  } catch (thrown) {
    if (decided.aborted) return
    const { problem, message } = appError(thrown)
    if (problem !== 'notFound') context.tell(printable(message))
  }
}

/**
 * Runs Claude Code in the workspace, at the terminal. Hooks take the steps, and name the workspace where it wants a
 * worktree; they are passed as a flag, so the user's settings do not change.
 */
async function open(context: Context, task: Task): Promise<Answer> {
  // Before anything is recorded: without the program the task stays as it was.
  const { agents } = await context.call('system.agents', { repo: context.dir })
  const claude = agents.find(({ name }) => name === 'claude')
  if (claude?.path === null) {
    const hint = claude.install === null ? undefined : `Install it: ${claude.install}`
    throw new AppError('programMissing', 'There is no command claude.', { hint })
  }
  const going =
    task.conversation !== undefined && task.agent === 'claude' ? [`--resume=${task.conversation}`] : []
  const command = ['claude', '--settings', JSON.stringify({ hooks: hooks() }), ...going]
  const ran = await context.call('task.run', { repo: context.dir, task: task.id, create: false, command })
  return { json: { ...ran }, text: summary(context, ran.task).join('\n'), exitCode: ran.exitCode }
}

const events = ['PostToolUse', 'WorktreeCreate', 'WorktreeRemove']

function hooks(): object {
  const commandOf = (event: string) =>
    [process.execPath, bin, 'hook', 'claude', event, '--quiet'].map((word) => `'${word}'`).join(' ')
  return Object.fromEntries(
    events.map((event) => [
      event,
      [{ matcher: '*', hooks: [{ type: 'command', command: commandOf(event) }] }],
    ]),
  )
}
