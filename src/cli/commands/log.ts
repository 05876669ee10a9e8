/** `log`: prints the steps of a task. */
import { counted } from '../../core/base/counted.ts'
import { plus, type Usage } from '../../core/model/usage.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag } from '../command.ts'
import { ago, type Fit, fittedLines, marks, type Paint, printable, table } from '../output.ts'
import { eventText, type Readable } from '../run-view.ts'
import { type Spent, spentText } from '../spent.ts'

type Step = Output<'task.log'>['checkpoints'][number]
type Run = NonNullable<Output<'task.log'>['runs']>[number]

export async function log(context: Context): Promise<Answer> {
  const { task, checkpoints, runs } = await context.call('task.log', {
    repo: context.dir,
    task: context.positionals[0],
    agent: flag(context.values, 'agent'),
  })
  if (runs) {
    if (runs.length === 0) context.tell(`Nothing is kept of what an agent said in ${task.id}.`)
    const text = runs.map((run) => transcript(context, run, checkpoints)).join('\n\n')
    return { json: { task, checkpoints, runs }, text, long: true }
  }
  if (checkpoints.length === 0)
    context.tell(`${task.id} has no steps yet. offshoot diff ${task.id} shows the workspace as it is.`)
  const lines: string[] = []
  for (const step of checkpoints)
    lines.push(await fittedStep(context, step), ...(await fittedCalls(context, step)))
  return { json: { task, checkpoints }, text: lines.join('\n'), long: true }
}

/** What the tool did first, then the files: number and commit are what other commands take. */
const cut: Fit['cut'] = [
  { column: 2, least: 16 },
  { column: 3, least: 12 },
  { column: 4, least: 0 },
  { column: 3, least: 0 },
  { column: 2, least: 0 },
]

async function fittedStep({ paint, shell }: Context, step: Step): Promise<string> {
  const line = await table([stepCells(step)], { width: shell.stdout.columns, cut })
  const n = String(step.n)
  return paint('yellow', n) + line.slice(n.length)
}

async function fittedCalls({ paint, shell }: Context, step: Step): Promise<string[]> {
  const lines = await fittedLines(callLines(step), shell.stdout.columns)
  return lines.map((line) => paint('dim', line))
}

/** A line for each call that the step names, where it is not only the one it is named after. */
function callLines({ calls, call, tool }: Step): string[] {
  const [only, ...others] = calls
  if (others.length === 0 && only?.id === call && only?.tool === tool) return []
  return calls.map(({ id, tool: name, summary, failed }) => {
    const said = [name, ...(summary === '' ? [] : [summary])].join(': ')
    const notes = [...(id === undefined ? [] : [id]), ...(failed ? ['failed'] : [])]
    return printable(`     of ${said}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`)
  })
}

/** `3  1a2b3c4d5e  Write: Create a.txt  (+ a.txt)  just now` */
export function stepLine(paint: Paint, step: Step): string {
  const [n = '', ...rest] = stepCells(step).map(printable)
  return [paint('yellow', n), ...rest].join('  ')
}

function stepCells(step: Step): string[] {
  const named = step.files.slice(0, 3).map(({ path, status }) => `${marks[status]} ${path}`)
  const more = step.files.length > 3 ? [`and ${step.files.length - 3} more`] : []
  return [
    String(step.n),
    (step.published ?? step.commit).slice(0, 10),
    step.summary === '' ? step.tool : `${step.tool}: ${step.summary}`,
    `(${[...named, ...more].join(', ') || 'no files'})`,
    ago(step.at, new Date()),
  ]
}

/** One run: who was asked for what, and then event by event. */
function transcript({ paint }: Context, run: Run, steps: readonly Step[]): string {
  const { agent, prompt, startedAt, endedAt, ok, reason = '', left = 0 } = run
  const head = `${paint('bold', printable(agent))}  ${ago(startedAt, new Date())}  ${printable(prompt)}`
  const end = endedAt === undefined ? 'no end is recorded' : ok ? 'ended' : `failed: ${printable(reason)}`
  const events = readable(run, steps).map((event) => eventText(paint, event))
  const took = spentText(spentIn(run))
  const cut = left > 0 ? [`  ${counted(left, 'event')} left out: the transcript was too long`] : []
  return [
    head.trimEnd(),
    ...events.filter((line) => line !== ''),
    ...cut,
    paint('dim', `  ${[end, ...(took === '' ? [] : [took])].join(': ')}`),
  ].join('\n')
}

/** What the run took, by its own events. */
function spentIn({ startedAt, endedAt, events }: Run): Spent {
  const used = events.reduce<Usage | undefined>(
    (sum, event) => (event.event === 'usage' ? plus(sum, event) : sum),
    undefined,
  )
  const took = endedAt === undefined ? {} : { seconds: (Date.parse(endedAt) - Date.parse(startedAt)) / 1000 }
  return { ...took, ...used }
}

/** A call is told when it has ended; one that never did is told where it began. */
function readable({ events }: Run, steps: readonly Step[]): Readable[] {
  const ended = new Set(events.map((one) => (one.event === 'tool.ended' ? one.call : undefined)))
  return events.flatMap((one, at): Readable[] => {
    switch (one.event) {
      case 'usage':
        return []
      case 'tool.started': {
        const isOver = one.call === undefined ? at < events.length - 1 : ended.has(one.call)
        const isDenied = events.some(
          ({ event, ...more }) => event === 'denied' && 'call' in more && more.call === one.call,
        )
        return isOver || isDenied ? [] : [one]
      }
      case 'step':
        return [{ ...one, files: steps.find(({ n }) => n === one.n)?.files ?? [] }]
      case 'message':
      case 'output':
        return [
          {
            ...one,
            text: one.cut === undefined ? one.text : `${one.text}… (${one.cut} characters left out)`,
          },
        ]
      default:
        return [one]
    }
  })
}
