/** `offshoot` alone, and `status`: prints the tasks that wait for the user. */
import { appError } from '../../core/model/errors.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import type { Answer, Context } from '../command.ts'
import { ago, deniedText, type Fit, linesText, printableLines, stateWords, table } from '../output.ts'
import { counted } from '../../core/base/counted.ts'

type Task = Output<'task.list'>['tasks'][number]
export type Why = 'asks' | 'wanted' | 'review' | 'failed' | 'running' | 'empty'

interface Waiting {
  readonly task: Task
  readonly why: Why
}

/** The tasks that wait for the user, most urgent first. Pure. */
export function waitingOf(tasks: readonly Task[]): Waiting[] {
  const order: Why[] = ['asks', 'wanted', 'review', 'failed', 'running', 'empty']
  const found = tasks.flatMap((task): Waiting[] => {
    const why = whyOf(task)
    return why === undefined ? [] : [{ task, why }]
  })
  return found.toSorted((one, other) => order.indexOf(one.why) - order.indexOf(other.why))
}

/** What a task wants of the user; undefined when it waits for nothing. Pure. */
export function whyOf({ asks, running, state, wanted, files, was = state }: Task): Why | undefined {
  if (asks) return 'asks'
  if (running) return 'running'
  if (wanted !== undefined) return 'wanted'
  // A task that went stale still waits for the user.
  if (was === 'completed') return files > 0 ? 'review' : 'empty'
  return was === 'failed' ? 'failed' : undefined
}

export async function waiting(context: Context): Promise<Answer> {
  const found = await context.call('task.list', { repo: context.dir }).catch((thrown: unknown) => {
    // Outside of a repository a program gets the error, and a person the first commands to try.
    if (context.values.json === true || appError(thrown).problem !== 'notARepository') throw thrown
    return undefined
  })
  if (!found) return { json: {}, text: welcome }
  const all = waitingOf(found.tasks)
  const others = found.tasks.length - all.length
  const now = new Date()
  const rows = all
    .slice(0, most)
    .map(({ task, why }) => [task.id, ...words(task, why), ago(task.lastActiveAt, now), next(task, why)])
  const more = [
    ...(all.length > most ? [`and ${all.length - most} more that wait`] : []),
    ...(others > 0 ? [`and ${counted(others, 'other open task')}`] : []),
  ]
  const lines = [
    ...(all.length === 0
      ? ['No task waits for you.']
      : (await table(rows, { width: context.shell.stdout.columns, cut })).split('\n')),
    ...(more.length > 0 ? [`${more.join(', ')}: offshoot list`] : []),
    ...(found.tasks.length === 0
      ? ['  offshoot run "what to do"    offshoot start TASK-1    offshoot --help']
      : []),
  ]
  return { json: { waiting: all }, text: printableLines(lines) }
}

const most = 10

/** The last column is a command to be typed, so it is cut last. */
const cut: Fit['cut'] = [
  { column: 1, least: 9 },
  { column: 3, least: 0 },
  { column: 2, least: 0 },
]

function words(task: Task, why: Why): string[] {
  const denied = task.denied === undefined ? '' : `, ${deniedText(task.denied)}`
  const size = `${counted(task.files, 'file')}, ${linesText(task)}${denied}`
  if (why === 'asks' && task.asks) return [`asks: ${task.asks.tool} ${task.asks.summary}`, task.asks.reason]
  if (why === 'empty') return ['done, nothing changed', denied.replace(', ', '')]
  if (why === 'review') return ['ready for review', size]
  if (why === 'wanted') return [`the agent asks you to ${task.wanted}`, size]
  return [stateWords(task, 60), size]
}

function next({ id, files }: Task, why: Why): string {
  if (why === 'asks') return `offshoot answer ${id}`
  if (why === 'running') return `offshoot stop ${id}`
  return files > 0 ? `offshoot diff ${id}` : `offshoot show ${id}`
}

const welcome = [
  'This is no git repository. In one, offshoot gives each agent a worktree of its own.',
  '  in a repository: offshoot run "what to do", or any command: offshoot run -- npm test',
  '  try it first: offshoot demo    all commands: offshoot --help',
].join('\n')
