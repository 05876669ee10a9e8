/** `run --agents` and `run --times`: gives one prompt to several agents, each in a task of its own, and compares what they did. */
import { randomUUID } from 'node:crypto'
import type { Emit } from '../../api/views.ts'
import { stepsText } from '../../core/base/counted.ts'
import { requireCombinable } from '../../core/base/exclusions.ts'
import { quoted } from '../../core/base/shell-quote.ts'
import { AppError, appError, cancelledRun } from '../../core/model/errors.ts'
import { isShortName } from '../../core/model/names.ts'
import type { Input, Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { ring } from '../notify.ts'
import { printable } from '../output.ts'
import { siblingsView } from '../siblings-view.ts'
import { sideBySide } from './compare.ts'
import { answer } from './run.ts'

type Task = Output<'task.run'>['task']

interface Sibling {
  readonly task: Task
  readonly agent: string
}

/** How the run of one of them ended. */
type Outcome = { readonly ran: Output<'task.run'> } | { readonly error: AppError }

export async function bestOf(
  context: Context,
  input: Input<'task.run'> & { readonly prompt: string },
): Promise<Answer> {
  const siblings = await startAll(context, input, await agentsOf(context, input))
  const outcomes = await runAll(context, input, siblings)
  if (context.signal.aborted) throw cancelledAll(siblings, outcomes)
  const [only] = outcomes
  if (only && outcomes.length === 1) {
    if ('error' in only) throw only.error
    return answer(context, only.ran)
  }
  const tasks = siblings.map(({ task }) => task.id)
  const shown = await sideBySide(context, tasks)
  const isFailed = outcomes.every((outcome) => 'error' in outcome)
  return { ...shown, text: [shown.text, nextLine(shown.rows)].join('\n'), ...(isFailed && { exitCode: 1 }) }
}

/** The agent of each run. Throws before anything is made when one of them cannot run. */
async function agentsOf(context: Context, input: Input<'task.run'>): Promise<string[]> {
  const { values, dir: repo } = context
  requireSense(values, input.task)
  const { agent, policy, allowed, denied } = input
  const named = text(values, 'agents')?.split(',') ?? (agent === undefined ? undefined : [agent])
  const { agents } = await context.call('task.plan', { repo, agents: named, policy, allowed, denied })
  return Array.from({ length: timesOf(values) }, () => agents).flat()
}

function timesOf(values: Context['values']): number {
  const times = text(values, 'times')
  const count = Number(times ?? 1)
  if (Number.isInteger(count) && count >= 1 && count <= 100) return count
  throw new AppError('wrongUsage', `--times takes a number from 1 to 100, not ${JSON.stringify(times)}.`, {
    hint: 'Write it as --times 3.',
  })
}

/** Refuses options that are for one run. */
function requireSense(values: Context['values'], task: string | undefined): void {
  const several = { '--agents': values.agents, '--times': values.times }
  const single = {
    '--branch': ': each task has a branch of its own',
    '--resume': ': each run begins a conversation of its own',
    '--detach': ': the runs are compared when they have ended',
    '--cleanup': ': the runs are compared when they have ended',
  }
  const given = Object.fromEntries(Object.keys(single).map((name) => [name, values[name.slice(2)]]))
  requireCombinable({ ...several, ...given, '--agent': values.agent }, [
    ...Object.entries(single).flatMap(([name, why]) =>
      Object.keys(several).map((other) => ({ options: [other, name], why, hint: `Leave ${name} out.` })),
    ),
    { options: ['--agents', '--agent'] },
  ])
  if (task === undefined || !isShortName(task)) return
  throw new AppError('wrongUsage', `--task ${task} is one task, and each of several runs has its own.`, {
    hint: 'Give a new name: --task fix makes fix-1, fix-2, …',
  })
}

/** Starts a task for each agent, or none: those that were made before one failed are rejected again. */
async function startAll(
  context: Context,
  { repo, task, base, from, isolation, prompt: title }: Input<'task.run'>,
  agents: readonly string[],
): Promise<Sibling[]> {
  const group = randomUUID()
  const made: string[] = []
  const siblings: Sibling[] = []
  try {
    for (const [n, agent] of agents.entries()) {
      const name = task === undefined ? undefined : `${task}-${n + 1}`
      const asked = { repo, task: name, title, base, from, isolation, group }
      const started = await context.call('task.start', asked)
      if (!started.reused) made.push(started.task.id)
      siblings.push({ task: started.task, agent })
    }
    return siblings
  } catch (thrown) {
    if (context.signal.aborted && made.length > 0) throw cancelledStart(made, thrown)
    for (const id of made) await context.call('task.reject', { repo, task: id }).catch(() => {})
    throw thrown
  }
}

/** Whoever cancels wants no further work done: the tasks stay, and are named. */
function cancelledStart(made: readonly string[], cause: unknown): AppError {
  const rejects = made.map((id) => `offshoot reject ${quoted(id)}`)
  return new AppError('cancelled', `Cancelled before the runs began; ${made.join(', ')} had been started.`, {
    hint: `Give them up: ${rejects.join('; ')}`,
    cause,
  })
}

/** A run that fails does not stop the others. */
async function runAll(
  context: Context,
  input: Input<'task.run'>,
  siblings: readonly Sibling[],
): Promise<Outcome[]> {
  const ids = siblings.map(({ task }) => task.id)
  const view = flag(context.values, 'json') ? undefined : siblingsView(context, ids)
  const run = async ({ task: { id: task }, agent }: Sibling): Promise<Outcome> => {
    const emit = view?.emit(task) ?? withTask(context.emit, task)
    return context.call('task.run', { ...input, agent, task }, emit).then(
      (ran) => {
        view?.end(task, `${agent} ${ran.task.state}`)
        return { ran }
      },
      (thrown: unknown) => {
        const error = appError(thrown)
        view?.end(task, printable(error.message))
        return { error }
      },
    )
  }
  try {
    return await Promise.all(siblings.map(run))
  } finally {
    view?.close()
  }
}

/** Each event says whose it is; `started` has the whole task. The input of a question may hold secrets. */
const withTask =
  (emit: Emit, task: string): Emit =>
  (told) => {
    ring(told)
    const event = told.event === 'asked' ? { ...told, input: undefined } : told
    const of: object = told.event === 'started' ? event : { ...event, task }
    return emit(of as typeof told)
  }

/** All of them have been cancelled: names the steps that hold what each has done. */
function cancelledAll(siblings: readonly Sibling[], outcomes: readonly Outcome[]): AppError {
  const did = siblings.map(({ task: { id } }, n) => {
    const outcome = outcomes[n]
    const run = outcome && 'error' in outcome ? cancelledRun(outcome.error) : undefined
    if (outcome && 'ran' in outcome) return `${id} had ended`
    if (!run) return `${id} had not begun`
    return run.steps ? `what ${id} did is ${stepsText(run.steps)}` : `${id} had changed nothing`
  })
  const ids = siblings.map(({ task }) => quoted(task.id))
  return new AppError('cancelled', `Cancelled; ${did.join(', ')}.`, {
    hint: `Go on with one: offshoot resume ${ids[0]}. Give them up: ${ids.map((id) => `offshoot reject ${id}`).join('; ')}`,
  })
}

/** The commands that may come next, for the first one that did well. */
function nextLine(rows: readonly { readonly task: Task; readonly check?: boolean }[]): string {
  const ids = rows.map(({ task }) => quoted(task.id))
  const best =
    rows.find(({ task, check }) => task.state === 'completed' && check !== false) ??
    rows.find(({ task }) => task.state === 'completed')
  const one = best ? quoted(best.task.id) : 'TASK'
  return `  offshoot compare ${ids.join(' ')} --diff    offshoot diff ${one}    offshoot accept ${one}`
}
