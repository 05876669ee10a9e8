/** `compare`: prints tasks side by side. */
import type { Input, Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { printableDiff, shortList, table } from '../output.ts'

/** Runs the command of --check in each workspace first, if there is one. */
export function compare(context: Context): Promise<Answer> {
  return sideBySide(context, context.positionals)
}

export async function sideBySide(context: Context, tasks: readonly string[]): Promise<Answer> {
  const { dir: repo, values } = context
  const check = text(values, 'check')
  const input = { repo, tasks: [...tasks], diff: flag(values, 'diff') }
  const checks = check === undefined ? [] : await checked(context, input, check)
  const done = await context.call('task.compare', input)
  const rows = done.tasks.map((row, n) => ({
    ...row,
    ...(check !== undefined && { check: checks[n] === 0 }),
  }))
  const columns = await table([heads, ...rows.map(cells)])
  const words = [columns, done.diff && printableDiff(done.diff)].filter(Boolean).join('\n\n')
  return { json: { ...done, tasks: rows }, text: words, long: true }
}

/** The exit code of the check in each workspace; 0 means that it succeeded. */
async function checked(context: Context, input: Input<'task.compare'>, check: string): Promise<number[]> {
  const codes: number[] = []
  // A look takes the beginning of an id, and a run does not.
  const { tasks } = await context.call('task.compare', { ...input, diff: false })
  for (const { task } of tasks) {
    const named = { repo: context.dir, task: task.id, create: false }
    const command = ['/bin/sh', '-c', check]
    const ran = await context.call('task.run', { ...named, command }, () => {})
    codes.push(ran.exitCode ?? 1)
  }
  return codes
}

const heads = ['TASK', 'STATE', 'CHECK', 'STEPS', 'FILES', 'LINES', 'TIME', 'ALSO CHANGED BY OTHERS']

function cells({
  task,
  check,
  seconds,
  shared,
}: Output<'task.compare'>['tasks'][number] & { check?: boolean }) {
  return [
    task.id,
    task.state,
    check === undefined ? '' : check ? 'ok' : 'failed',
    String(task.checkpoints),
    String(task.files),
    `+${task.insertions} -${task.deletions}`,
    `${seconds} s`,
    shortList(shared),
  ]
}
