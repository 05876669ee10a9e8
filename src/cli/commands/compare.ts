import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { printable, shortList, table } from '../output.ts'

/** `compare TASK TASK…`, with a check of each if one is given. */
export function compare(context: Context): Promise<Answer> {
  return sideBySide(context, context.positionals)
}

export async function sideBySide(context: Context, tasks: readonly string[]): Promise<Answer> {
  const { dir: repo, values } = context
  const check = text(values, 'check')
  const checks = check === undefined ? [] : await checked(context, tasks, check)
  const done = await context.call('task.compare', { repo, tasks: [...tasks], diff: flag(values, 'diff') })
  const rows = done.tasks.map((row, n) => ({
    ...row,
    ...(check !== undefined && { check: checks[n] === 0 }),
  }))
  const words = [printable(table([heads, ...rows.map(cells)])), done.diff].filter(Boolean).join('\n\n')
  return { json: { ...done, tasks: rows }, text: words, long: true }
}

/** In each workspace; whether it is fine is the exit code of the check. */
async function checked(context: Context, tasks: readonly string[], check: string): Promise<number[]> {
  const codes: number[] = []
  for (const task of tasks) {
    const command = ['/bin/sh', '-c', check]
    const ran = await context.call('task.run', { repo: context.dir, task, create: false, command }, () => {})
    codes.push(ran.exitCode ?? 1)
  }
  return codes
}

const heads = ['TASK', 'STATE', 'CHECK', 'STEPS', 'FILES', 'LINES', 'TIME', 'ALSO CHANGED BY ANOTHER']

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
