/** `run`, `resume` and `exec`: run an agent or a command in a task. */
import { randomUUID } from 'node:crypto'
import type { Emit } from '../../api/views.ts'
import { AppError, appError, problemOf } from '../../core/model/errors.ts'
import { policyLevels } from '../../core/model/enums.ts'
import type { Input, Output } from '../../protocol/schemas/index.ts'
import { type Answer, choice, type Context, flag, text, texts } from '../command.ts'
import { counted } from '../../core/base/counted.ts'
import { splitTools } from '../../core/base/tool-list.ts'
import { printable } from '../output.ts'
import { runLog } from '../run-log.ts'
import { personal } from '../run-view.ts'
import { stepLine } from './log.ts'

/** Outside of a repository the run goes on without a task, if the settings allow it. */
export async function run(context: Context): Promise<Answer> {
  return inTask(context).catch((thrown: unknown) => {
    if (appError(thrown).problem !== 'notARepository') throw thrown
    return directly(context)
  })
}

/** Runs without a task, so nothing is recorded and nothing can be undone. */
async function directly(context: Context): Promise<Answer> {
  const { dir: repo, positionals, rest, values } = context
  const [prompt] = positionals
  const command = rest.length > 0 ? [...rest] : undefined
  const view = flag(values, 'json') ? undefined : personal(context)
  const emit = view?.emit ?? withoutInput(context.emit)
  const isPlain = command !== undefined && prompt === undefined && view !== undefined
  try {
    const input = { repo, command, prompt, ...limitsOf(context) }
    const ran = await context.call('system.direct', input, isPlain ? undefined : emit)
    context.tell(
      `${context.paint('yellow', 'notice:')} this is no git repository, so the run was not recorded and cannot be undone.`,
    )
    return { json: { ...ran }, text: '', exitCode: ran.exitCode }
  } finally {
    view?.close()
  }
}

/** `run "prompt"` or `run -- command…`: starts the task if there is none. */
async function inTask(context: Context): Promise<Answer> {
  const { dir: repo, values, positionals, rest } = context
  const task = text(values, 'task')
  const base = text(values, 'worktree-dir')
  const [prompt] = positionals
  if (rest.length > 0 && prompt === undefined) {
    return cleaned(context, await execute(context, { repo, task, create: true, base, command: [...rest] }))
  }
  const resumed = text(values, 'resume')
  const resume = resumed === '' ? true : resumed
  const speaks = text(values, 'agent') === 'acp'
  if ((rest.length > 0 && !speaks) || (prompt === undefined && resume === undefined))
    throw wrongRun(rest.length > 0)
  const command = rest.length > 0 ? [...rest] : undefined
  const input = { repo, task, create: resume === undefined, base, resume, prompt: prompt ?? goOn, command }
  const several = siblings(context)
  if (several !== undefined) return bestOf(context, { ...input, ...limitsOf(context) }, several)
  if (flag(values, 'detach')) return detached(context, input)
  return cleaned(context, await converse(context, { ...input, ...limitsOf(context) }))
}

/** `exec TASK -- command…` */
export async function exec(context: Context): Promise<Answer> {
  const { dir: repo, positionals, rest } = context
  if (rest.length === 0)
    throw new AppError('wrongUsage', '`exec`: missing COMMAND after --.', {
      hint: `Usage: offshoot exec ${positionals[0]} -- COMMAND…`,
    })
  return answer(
    context,
    await execute(context, { repo, task: positionals[0], create: false, command: [...rest] }),
  )
}

const goOn = 'Go on where you stopped.'

/** `resume TASK ["prompt"]` */
export async function resume(context: Context): Promise<Answer> {
  const { dir: repo, positionals } = context
  const [task, prompt = goOn] = positionals
  const input = { repo, task, create: false, resume: true, prompt }
  if (flag(context.values, 'detach')) return detached(context, input)
  return answer(context, await converse(context, { ...input, ...limitsOf(context) }))
}

/** The agent of each task that --agents and --times ask for; undefined without both. */
function siblings({ values }: Context): (string | undefined)[] | undefined {
  const agents = text(values, 'agents')?.split(',')
  const times = text(values, 'times')
  if (agents === undefined && times === undefined) return undefined
  const count = Number(times ?? 1)
  if (!Number.isInteger(count) || count < 1 || count > 100)
    throw new AppError('wrongUsage', `--times takes a number from 1 to 100, not ${JSON.stringify(times)}.`, {
      hint: 'Write it as --times 3.',
    })
  return Array.from({ length: count }, () => agents ?? [text(values, 'agent')]).flat()
}

/** Gives one prompt to several tasks from one base. A run that fails does not stop the others. */
async function bestOf(
  context: Context,
  input: Input<'task.run'> & Begun,
  agents: readonly (string | undefined)[],
): Promise<Answer> {
  const title = input.prompt
  const { repo, base } = input
  const tasks: string[] = []
  const group = randomUUID()
  for (const [n, agent] of agents.entries()) {
    const name = input.task === undefined ? undefined : `${input.task}-${n + 1}`
    const { task } = await context.call('task.start', { repo, task: name, title, base, group })
    tasks.push(task.id)
    context.tell(`${task.id}: ${agent ?? 'the agent'}`)
  }
  const emit = flag(context.values, 'json') ? context.emit : () => undefined
  const runs = agents.map((agent, n) => context.call('task.run', { ...input, agent, task: tasks[n] }, emit))
  for (const [n, ran] of (await Promise.allSettled(runs)).entries())
    if (ran.status === 'rejected') context.tell(`${tasks[n]}: ${printable(appError(ran.reason).message)}`)
  const { sideBySide } = await import('./compare.ts')
  if (tasks.length > 1) return sideBySide(context, tasks)
  return answer(context, await runs[0]!)
}

/** Starts the task here, so that its id can be printed, and leaves the run to a process in the background. */
async function detached(
  context: Context,
  { repo, task: named, create, base, resume, prompt }: Begun,
): Promise<Answer> {
  const title = named === undefined ? prompt : undefined
  const { task } = create
    ? await context.call('task.start', { repo, task: named, title, base })
    : await context.call('task.show', { repo, task: named })
  const { detach } = await import('../detach.ts')
  const log = runLog(context.home, task)
  const going = resume === undefined ? [] : [`--resume=${resume === true ? '' : resume}`]
  const argv = ['run', '--task', task.id, '--json', '--quiet', ...going, ...optionsOf(context), prompt]
  const { pid, first } = await detach(argv, repo, log, context.signal)
  if (first.error !== undefined) {
    const { code, message, hint } = first.error as { code: string; message: string; hint: string }
    throw new AppError(problemOf(code), message, { hint })
  }
  const lines = [
    `${context.paint('bold', task.id)} runs in the background, as process ${pid}`,
    `  offshoot attach ${task.id}    offshoot log ${task.id}    offshoot stop ${task.id}`,
  ]
  return { json: { task, pid, log }, text: lines.join('\n') }
}

interface Begun {
  readonly repo: string
  readonly task: string | undefined
  readonly create: boolean
  readonly base?: string | undefined
  readonly resume?: boolean | string | undefined
  readonly prompt: string
}

/** The options of the conversation, for the command line of the detached process. */
function optionsOf({ values }: Context): string[] {
  const passed = ['agent', 'policy', 'allowed-tools', 'denied-tools', 'cleanup', 'worktree-cleanup']
  return passed.flatMap((name) => {
    const value = values[name]
    if (value === true) return [`--${name}`]
    if (Array.isArray(value)) return value.map((one) => `--${name}=${one}`)
    return typeof value === 'string' ? [`--${name}=${value}`] : []
  })
}

function limitsOf({ values }: Context) {
  return {
    agent: text(values, 'agent'),
    policy: choice(values, 'policy', policyLevels),
    allowed: texts(values, 'allowed-tools')?.flatMap(splitTools),
    denied: texts(values, 'denied-tools')?.flatMap(splitTools),
    autoContinue: flag(values, 'auto-continue'),
  }
}

function wrongRun(both: boolean): AppError {
  const hint = 'Give a prompt: offshoot run "Fix the login form", or a command: offshoot run -- npm test'
  const wrong = both
    ? 'PROMPT and COMMAND cannot be combined'
    : 'missing argument PROMPT, or COMMAND after --'
  return new AppError('wrongUsage', `\`run\`: ${wrong}.`, { hint })
}

/** The command writes to the terminal itself; with --json its output becomes events. */
async function execute(context: Context, input: Input<'task.run'>): Promise<Output<'task.run'>> {
  const emit: Emit | undefined = flag(context.values, 'json') ? context.emit : undefined
  const ran = await context.call('task.run', input, emit)
  if (ran.checkpoint) context.tell(`step ${stepLine(context, ran.checkpoint)}`)
  else context.tell('The command changed nothing.')
  for (const line of strayed(ran)) context.tell(line)
  return ran
}

async function converse(context: Context, input: Input<'task.run'>): Promise<Output<'task.run'>> {
  const view = flag(context.values, 'json') ? undefined : personal(context)
  try {
    return await context.call('task.run', input, view?.emit ?? withoutInput(context.emit))
  } finally {
    view?.close()
    if (flag(context.values, 'bell')) process.stderr.write('\u0007')
  }
}

/** The input of a question may hold secrets, and nobody reads it where it is printed as JSON. */
const withoutInput =
  (emit: Emit): Emit =>
  (told) =>
    emit(told.event === 'asked' ? { ...told, input: undefined } : told)

/** With --cleanup, removes the workspace of a run that succeeded. The branch keeps the work. */
async function cleaned(context: Context, ran: Output<'task.run'>): Promise<Answer> {
  const wanted = flag(context.values, 'cleanup') || flag(context.values, 'worktree-cleanup')
  if (!wanted || ran.task.state !== 'completed') return answer(context, ran)
  const gone = await context.call('worktree.remove', {
    repo: context.dir,
    task: ran.task.id,
    force: true,
    keepBranch: true,
  })
  context.tell(`Removed the workspace; the work is on ${printable(ran.task.branch)}.`)
  return answer(context, { ...ran, task: gone.task })
}

function answer(context: Context, ran: Output<'task.run'>): Answer {
  if (ran.exitCode !== undefined) return { json: { ...ran }, text: '', exitCode: ran.exitCode }
  const [first, ...next] = summary(context, ran.task)
  return { json: { ...ran }, text: [first, ...strayed(ran), ...next].join('\n') }
}

function strayed({ task, strays, operation }: Output<'task.run'>): string[] {
  const isWhole = strays.every(({ kept }) => kept)
  const back = isWhole ? 'puts them back' : 'puts back all but those that are not kept'
  return [
    ...strays.map((stray) => `  changed in your repository during the run: ${strayLine(stray)}`),
    ...(task.leftOut === undefined ? [] : [`  ${printable(task.leftOut)}`]),
    ...(operation === undefined ? [] : [`  undo: offshoot undo ${operation.slice(0, 6)} ${back}`]),
  ]
}

function strayLine({ what, mode, kept }: Output<'task.run'>['strays'][number]): string {
  const notes = [...(mode ? [`mode ${mode.before} to ${mode.after}`] : []), ...(kept ? [] : ['not kept'])]
  return `${printable(what)}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`
}

/** The outcome of a run, and the commands that may come next. */
export function summary({ paint }: Context, task: Output<'task.run'>['task']): string[] {
  const { id, state, checkpoints, files, insertions, deletions, wanted } = task
  const asked = wanted === undefined ? [] : [`  the agent asks you to ${wanted}`]
  return [
    `${paint('bold', id)} ${state}: ${counted(checkpoints, 'step')}, ${counted(files, 'file')}, +${insertions} -${deletions}`,
    ...asked,
    `  offshoot diff ${id}    offshoot accept ${id}    offshoot resume ${id} "…"    offshoot reject ${id}`,
  ]
}
