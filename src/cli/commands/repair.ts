import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag } from '../command.ts'
import { counted, printable } from '../output.ts'

const told = {
  sound: 'was sound',
  mended: 'has its git back',
  recreated: 'was made again, as of its last step',
}

export async function repair(context: Context): Promise<Answer> {
  const done = await context.call('task.repair', {
    repo: context.dir,
    task: context.positionals[0],
    rebuild: flag(context.values, 'rebuild'),
  })
  return {
    json: { ...done },
    text: printable(lines(done).join('\n')),
    exitCode: done.left.length + (done.rebuilt?.left.length ?? 0) > 0 ? 1 : 0,
  }
}

function lines({ task, mended, repaired, left, rebuilt }: Output<'task.repair'>): string[] {
  return [
    ...(rebuilt ? rebuiltLines(rebuilt) : []),
    ...(task && mended ? [`The workspace of ${task.id} ${told[mended]}.`] : []),
    ...repaired.map(({ name, message }) => `mended  ${name}: ${message}`),
    ...left.flatMap(({ name, message, hint }) => [`left    ${name}: ${message}`, `        ${hint}`]),
    ...(!task && !rebuilt && repaired.length + left.length === 0 ? ['Everything is sound.'] : []),
  ]
}

function rebuiltLines({
  aside,
  tasks,
  steps,
  operations,
  left,
}: NonNullable<Output<'task.repair'>['rebuilt']>) {
  return [
    ...(aside === undefined ? [] : [`The damaged records are in ${aside}.`]),
    `Brought back ${counted(tasks.length, 'task')}, ${counted(steps, 'step')} and ${counted(operations, 'operation')} from the vaults.`,
    ...left.flatMap(({ what, why, hint }) => [`left    ${what}: ${why}`, `        ${hint}`]),
  ]
}
