/** `run`, `resume` and `exec`: run an agent or a command in a task. */
import type { Emit } from '../../api/views.ts'
import { AppError, appError } from '../../core/model/errors.ts'
import { isolations, policyLevels } from '../../core/model/enums.ts'
import { entryVariable, highestPriority } from '../../core/model/queue.ts'
import type { Input, Output } from '../../protocol/schemas/index.ts'
import { type Answer, choice, type Context, flag, text, texts } from '../command.ts'
import { counted } from '../../core/base/counted.ts'
import { requireCombinable } from '../../core/base/exclusions.ts'
import { quoted } from '../../core/base/shell-quote.ts'
import { splitTools } from '../../core/base/tool-list.ts'
import { notifyOf, ring } from '../notify.ts'
import { deniedText, printable, unheardText } from '../output.ts'
import { strayed } from '../strays.ts'
import { spentText } from '../spent.ts'
import { personal } from '../run-view.ts'
import { stepLine } from './log.ts'

/** Runs what waited in the queue of the daemon, which has started this process for it. */
async function fromQueue(context: Context, entry: string): Promise<Answer> {
  const input = { repo: context.dir, task: text(context.values, 'task'), create: false, entry }
  return cleaned(context, await converse(context, input))
}

/** Without isolation where the user asks for it, and where there can be no task: the settings then say whether to run. */
export async function run(context: Context): Promise<Answer> {
  const entry = context.env[entryVariable]
  // It is for this process, not for those that its agent starts.
  delete context.env[entryVariable]
  if (entry !== undefined) return fromQueue(context, entry)
  return orDirectly(await withPrompt(context, 0), inTask)
}

async function orDirectly(context: Context, work: (context: Context) => Promise<Answer>): Promise<Answer> {
  if (text(context.values, 'isolation') === 'direct')
    return directly(context, 'you asked for no isolation', 'direct')
  return work(context).catch((thrown: unknown) => {
    const error = appError(thrown)
    // Without a task such an option would be ignored in silence. A name for it does no harm.
    if (workOptions.some((name) => context.values[name] !== undefined)) throw thrown
    if (error.problem === 'notARepository') return directly(context, 'this is no git repository')
    if (isSwitchedOff(error)) return directly(context, 'offshoot is switched off here')
    throw thrown
  })
}

function isSwitchedOff({ problem, data }: AppError): boolean {
  return problem === 'policyRefused' && data !== undefined && 'switchedOff' in data
}

/** Runs without a task, so nothing is recorded and nothing can be undone. */
async function directly(context: Context, why: string, isolation?: 'direct'): Promise<Answer> {
  const { dir: repo, positionals, rest, values } = context
  if (isolation) requireTaskless(values)
  const command = rest.length > 0 ? [...rest] : undefined
  // The argument of `exec` is a task, which a run without one does not have.
  const prompt = command === undefined ? positionals[0] : undefined
  if (command === undefined && prompt === undefined) throw wrongRun(false)
  const view = flag(values, 'json') ? undefined : personal(context)
  const emit = view?.emit ?? withoutInput(context.emit)
  const isPlain = command !== undefined && view !== undefined
  try {
    const input = { repo, command, prompt, isolation, ...limitsOf(context) }
    const ran = await context.call('system.direct', input, isPlain ? undefined : emit)
    context.tell(
      `${context.paint('yellow', 'notice:')} ${why}, so the run was not recorded and cannot be undone.`,
    )
    return { json: { ...ran }, text: '', exitCode: ran.exitCode }
  } finally {
    view?.close()
  }
}

/** Only the work in a task can have them. */
const workOptions = ['from', 'branch', 'resume', 'worktree-dir', 'detach', 'agents', 'times']

/** Refuses what only a task can have, beside the isolation that makes none. */
function requireTaskless(values: Context['values']): void {
  const given = Object.fromEntries(['task', ...workOptions].map((name) => [`--${name}`, values[name]]))
  requireCombinable(
    { '--isolation direct': true, ...given },
    Object.keys(given).map((name) => ({
      options: ['--isolation direct', name],
      why: ': there is no task',
      hint: 'Leave one of them out.',
    })),
  )
}

/** `run "prompt"` or `run -- command…`: starts the task if there is none. */
async function inTask(context: Context): Promise<Answer> {
  const { dir: repo, values, positionals, rest } = context
  const task = text(values, 'task')
  const [prompt] = positionals
  const made = madeBy(context)
  if (rest.length > 0 && prompt === undefined) {
    requireQuiet(values)
    const input = { repo, task, create: true, ...made, command: [...rest] }
    if (flag(values, 'detach')) return detached(context, { ...input, cleanup: cleanupOf(context) })
    return cleaned(context, await execute(context, input))
  }
  const resumed = text(values, 'resume')
  const resume = resumed === '' ? true : resumed
  const speaks = text(values, 'agent') === 'acp'
  if ((rest.length > 0 && !speaks) || (prompt === undefined && resume === undefined))
    throw wrongRun(rest.length > 0)
  const command = rest.length > 0 ? [...rest] : undefined
  const input = { repo, task, create: resume === undefined, ...made, resume, prompt: prompt ?? goOn, command }
  const limited = { ...input, ...limitsOf(context) }
  if (isSeveral(values)) {
    const { bestOf } = await import('./best-of.ts')
    return bestOf(context, limited)
  }
  if (flag(values, 'detach')) return detached(context, { ...limited, cleanup: cleanupOf(context) })
  return cleaned(context, await converse(context, limited))
}

/** The same, with the prompt that `-` stands for: what is on stdin. */
async function withPrompt(context: Context, at: number): Promise<Context> {
  if (context.positionals[at] !== '-') return context
  const { text: readAll } = await import('node:stream/consumers')
  return { ...context, positionals: context.positionals.with(at, await readAll(process.stdin)) }
}

/** Refuses a notification of a command, which has the terminal to itself and asks nothing. */
function requireQuiet(values: Context['values']): void {
  if (notifyOf(values) === undefined) return
  throw new AppError('wrongUsage', '`run`: --notify is for agents, not for a command after --.', {
    hint: 'Add it to the command itself: offshoot run -- sh -c "npm test; notify-send tests"',
  })
}

const isSeveral = (values: Context['values']) =>
  text(values, 'agents') !== undefined || text(values, 'times') !== undefined

/** How a new task is made. */
function madeBy({ values }: Context) {
  const [from, branch, isolation] = [
    text(values, 'from'),
    text(values, 'branch'),
    choice(values, 'isolation', isolations),
  ]
  const going = { '--resume': text(values, 'resume'), '--from': from, '--branch': branch }
  const why = ': the task is there already'
  requireCombinable({ ...going, '--isolation': isolation }, [
    { options: ['--resume', '--from'], why },
    { options: ['--resume', '--branch'], why },
    { options: ['--resume', '--isolation'], why },
  ])
  return { base: text(values, 'worktree-dir'), from, branch, isolation }
}

/** `exec TASK -- command…` */
export async function exec(context: Context): Promise<Answer> {
  return orDirectly(context, execInTask)
}

async function execInTask(context: Context): Promise<Answer> {
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
  const { dir: repo, positionals } = await withPrompt(context, 1)
  const [task, prompt = goOn] = positionals
  const input = { repo, task, create: false, resume: true, prompt, ...limitsOf(context) }
  if (flag(context.values, 'detach')) return detached(context, input)
  return answer(context, await converse(context, input))
}

/** Prints the id of the task and leaves the run to a process of its own. */
async function detached(context: Context, input: Input<'task.detach'>): Promise<Answer> {
  const { task, ...begun } = await context.call('task.detach', { ...input, ...urgencyOf(context) })
  const what = begun.queued
    ? 'waits for its turn at the daemon'
    : `runs in the background, as process ${begun.pid}`
  const lines = [
    `${context.paint('bold', task.id)} ${what}`,
    `  offshoot attach ${task.id}    offshoot log ${task.id}    offshoot stop ${task.id}`,
  ]
  return { json: { task, ...begun }, text: lines.join('\n') }
}

function urgencyOf({ values }: Context): Pick<Input<'task.detach'>, 'priority'> {
  const given = text(values, 'priority')
  if (given === undefined) return {}
  const priority = Number(given)
  if (given.trim() !== '' && Number.isInteger(priority) && Math.abs(priority) <= highestPriority)
    return { priority }
  throw new AppError(
    'wrongUsage',
    `A priority is a whole number from -${highestPriority} to ${highestPriority}.`,
    {
      hint: 'A higher one starts first: --priority 5',
    },
  )
}

/** Whether the workspace goes when the run has succeeded. */
function cleanupOf({ values }: Context): boolean {
  return flag(values, 'cleanup') || flag(values, 'worktree-cleanup')
}

function limitsOf({ values }: Context) {
  return {
    agent: text(values, 'agent'),
    policy: choice(values, 'policy', policyLevels),
    allowed: texts(values, 'allowed-tools')?.flatMap(splitTools),
    denied: texts(values, 'denied-tools')?.flatMap(splitTools),
    autoContinue: flag(values, 'auto-continue'),
    askTimeout: text(values, 'ask-timeout'),
    notify: notifyOf(values),
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
  if (ran.checkpoint) context.tell(`step ${stepLine(context.paint, ran.checkpoint)}`)
  else context.tell('The command changed nothing.')
  for (const line of told(ran)) context.tell(line)
  return ran
}

async function converse(context: Context, input: Input<'task.run'>): Promise<Output<'task.run'>> {
  const view = flag(context.values, 'json') ? undefined : personal(context)
  try {
    return await context.call('task.run', input, view?.emit ?? withoutInput(context.emit))
  } finally {
    view?.close()
  }
}

/** The input of a question may hold secrets, and nobody reads it where it is printed as JSON. */
const withoutInput =
  (emit: Emit): Emit =>
  (told) => {
    ring(told)
    return emit(told.event === 'asked' ? { ...told, input: undefined } : told)
  }

/** With --cleanup, removes the workspace of a run that succeeded. The branch keeps the work. */
async function cleaned(context: Context, ran: Output<'task.run'>): Promise<Answer> {
  if (!cleanupOf(context) || ran.task.state !== 'completed') {
    const { id } = ran.task
    const next = `  offshoot diff ${id}    offshoot accept ${id}    offshoot reject ${id}`
    if (ran.exitCode !== undefined) tellOutcome(context, ran.task, next)
    return answer(context, ran)
  }
  const gone = await context.call('worktree.remove', {
    repo: context.dir,
    task: ran.task.id,
    force: true,
    keepBranch: true,
  })
  const { branch } = ran.task
  const undo = gone.operation === undefined ? '' : `    offshoot undo ${gone.operation.slice(0, 6)}`
  context.tell(`Removed the workspace; the work is on ${printable(branch)}.`)
  const next = `  offshoot diff ${ran.task.id}    git merge ${printable(quoted(branch))}${undo}`
  if (ran.exitCode !== undefined) tellOutcome(context, ran.task, next)
  return answer(context, { ...ran, task: gone.task }, next)
}

/** Stdout is the command's own, so the task that it ran in and the commands that may come next are told. */
function tellOutcome(
  { paint, tell }: Context,
  { id, state, reason }: Output<'task.run'>['task'],
  next: string,
): void {
  tell(`${paint('bold', id)} ${state}${reason === undefined ? '' : `: ${printable(reason)}`}`)
  tell(next)
}

/** `closed` is the line of commands that work once the task is closed. */
export function answer(context: Context, ran: Output<'task.run'>, closed?: string): Answer {
  if (ran.exitCode !== undefined) return { json: { ...ran }, text: '', exitCode: ran.exitCode }
  const [first, ...next] = summary(context, ran.task, closed)
  return { json: { ...ran }, text: [first, ...told(ran), ...next].join('\n') }
}

function told({ task, strays, operation }: Output<'task.run'>): string[] {
  const leftOut = task.leftOut === undefined ? [] : [`  ${printable(task.leftOut)}`]
  return [...leftOut, ...strayed(strays, operation)]
}

/** The outcome of a run, and the commands that may come next. */
export function summary({ paint }: Context, task: Output<'task.run'>['task'], closed?: string): string[] {
  const { id, state, checkpoints, files, insertions, deletions, wanted, denied, unheard, lastRun } = task
  const asked = [
    ...(wanted === undefined ? [] : [`  the agent asks you to ${wanted}`]),
    ...(denied === undefined ? [] : [`  ${deniedText(denied)}: offshoot audit --task ${id}`]),
    ...(unheard === undefined ? [] : [`  ${unheardText(unheard)}`]),
  ]
  const took = lastRun === undefined ? '' : spentText(lastRun)
  return [
    `${paint('bold', id)} ${state}: ${counted(checkpoints, 'step')}, ${counted(files, 'file')}, +${insertions} -${deletions}${took === '' ? '' : `, ${took}`}`,
    ...asked,
    closed ??
      `  offshoot diff ${id}    offshoot accept ${id}    offshoot resume ${id} "…"    offshoot reject ${id}`,
  ]
}
