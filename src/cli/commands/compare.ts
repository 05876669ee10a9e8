/** `compare`: prints tasks side by side. */
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { printable, printableDiff, shortList, table } from '../output.ts'
import { costText, durationText, type Spent, tokensText } from '../spent.ts'

export interface Compared extends Answer {
  readonly rows: readonly Row[]
}

type Row = Output<'task.compare'>['tasks'][number] & { readonly check?: boolean }

/** Runs the command of --check in each workspace, if there is one. */
export function compare(context: Context): Promise<Answer> {
  return sideBySide(context, context.positionals)
}

/** The rows are as of before the checks, which are commands and not the work that is compared. */
export async function sideBySide(context: Context, names: readonly string[]): Promise<Compared> {
  const { dir: repo, values } = context
  const done = await context.call('task.compare', { repo, tasks: [...names], diff: flag(values, 'diff') })
  const check = text(values, 'check')
  const rows: Row[] = []
  for (const row of done.tasks)
    rows.push(check === undefined ? row : { ...row, check: await succeeds(context, row.task.id, check) })
  const columns = await table([heads, ...rows.map(cells)])
  const words = [columns, done.diff && printableDiff(done.diff)].filter(Boolean).join('\n\n')
  return { json: { ...done, tasks: rows }, text: words, long: true, rows }
}

async function succeeds(context: Context, task: string, check: string): Promise<boolean> {
  context.tell(`${task}: ${printable(check)}`)
  const command = ['/bin/sh', '-c', check]
  const ran = await context.call('task.run', { repo: context.dir, task, create: false, command }, () => {})
  return ran.exitCode === 0
}

const heads = [
  'TASK',
  'AGENT',
  'STATE',
  'CHECK',
  'STEPS',
  'FILES',
  'LINES',
  'TIME',
  'TOKENS',
  'COST',
  'ALSO CHANGED BY OTHERS',
]

function cells({ task, check, seconds, shared }: Row) {
  const usage: Spent = task.usage ?? {}
  return [
    task.id,
    task.lastRun?.agent ?? task.agent ?? '',
    task.state,
    check === undefined ? '' : check ? 'ok' : 'failed',
    String(task.checkpoints),
    String(task.files),
    `+${task.insertions} -${task.deletions}`,
    durationText(seconds),
    tokensText(usage),
    usage.costUsd === undefined ? '' : costText(usage.costUsd),
    shortList(shared),
  ]
}
