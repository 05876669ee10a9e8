/** `forecast`: prints which tasks conflict, with what, and in which order to land them. */
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, texts } from '../command.ts'
import { type Meeting, meetingText } from '../forecast-text.ts'
import { printableLines, table } from '../output.ts'

type Forecast = Output<'task.forecast'>
type Task = Forecast['tasks'][number]

export async function forecast({ dir, values, call, tell }: Context): Promise<Answer> {
  const after = texts(values, 'after')?.flatMap((names) => names.split(',').map((name) => name.trim()))
  const made = await call('task.forecast', { repo: dir, after })
  const work = made.tasks.filter(({ files, checkout }) => files > 0 || checkout.level !== 'none')
  if (work.length === 0) tell(`No${made.after.length > 0 ? ' other' : ''} task has anything to land.`)
  const parts = [
    printableLines(made.after.map(afterLine)),
    work.length > 0 ? await matrix(made, work) : '',
    printableLines(meetings(made, work)),
    printableLines(orderLines(made)),
  ]
  return { json: { ...made }, text: parts.filter((part) => part !== '').join('\n\n'), long: true }
}

/** The tasks that --after names: what comes next counts on those that land. */
function afterLine({ task, checkout, files }: Task): string {
  if (files === 0 && checkout.level === 'none') return `${task} has nothing to land.`
  if (checkout.level === 'conflict' || checkout.level === 'unknown')
    return `${task} does not land, and is left out: ${meetingText(checkout)}`
  return `${task} lands cleanly.`
}

const signs = { none: '.', 'same-file': '=', unknown: '?' }

const legend = {
  '.': 'nothing in common',
  '=': 'same file, merges cleanly',
  x: 'conflict, in so many files',
  '?': 'cannot be told',
}

function sign({ level, conflicts }: Meeting): string {
  return level === 'conflict' ? `x${conflicts.length}` : signs[level]
}

/** Each task against its target, the checkout and, where there are several, the others by their numbers. */
async function matrix({ pairs }: Forecast, work: readonly Task[]): Promise<string> {
  const signOf = (one: Task, other: Task): string => {
    const pair = pairs.find(({ first, second }) =>
      [one.task, other.task].every((id) => id === first || id === second),
    )
    return one === other ? '' : pair ? sign(pair) : '.'
  }
  const others = work.length > 1 ? work : []
  const rows = work.map((task, at) => [
    ...(others.length > 0 ? [String(at + 1)] : []),
    task.task,
    String(task.files),
    sign(task.target),
    sign(task.checkout),
    ...others.map((other) => signOf(task, other)),
  ])
  const numbers = others.map((_, at) => String(at + 1))
  const head = [...(others.length > 0 ? [''] : []), 'TASK', 'FILES', 'TARGET', 'CHECKOUT', ...numbers]
  const used = new Set(rows.flat().map((word) => word.replace(/^x\d+$/, 'x')))
  const words = Object.entries(legend).flatMap(([key, meaning]) =>
    used.has(key) ? [`${key} ${meaning}`] : [],
  )
  return `${await table([head, ...rows])}\n\n${words.join('; ')}`
}

function meetings({ pairs, after }: Forecast, work: readonly Task[]): string[] {
  const checkoutText = after.length > 0 ? 'your checkout after that' : 'your checkout'
  const lines = [
    ...work.flatMap(({ task, branch, target, checkout }) => [
      line(`${task} and ${branch ?? 'its target'}`, target),
      line(`${task} and ${checkoutText}`, checkout),
    ]),
    ...pairs.map((pair) => line(`${pair.first}, then ${pair.second}`, pair)),
  ]
  return lines.filter((text) => text !== undefined)
}

function line(who: string, meeting: Meeting): string | undefined {
  const text = meetingText(meeting)
  return text === undefined ? undefined : `${who}: ${text}`
}

/** One task needs no order. */
function orderLines({ order }: Forecast): string[] {
  if (order.length < 2) return []
  return ['Land them in this order:', ...order.map(({ task, why }, at) => `  ${at + 1}. ${task}: ${why}`)]
}
