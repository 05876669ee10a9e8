/** `repair`: repairs one workspace, or everything that doctor finds (docs/adr/0019-records-from-the-vault.md). */
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag } from '../command.ts'
import { counted } from '../../core/base/counted.ts'
import { printableLines } from '../output.ts'

const outcomes = {
  sound: 'is intact',
  mended: 'is linked to its repository again',
  recreated: 'was recreated from its last step',
}

export async function repair(context: Context): Promise<Answer> {
  const done = await context.call('task.repair', {
    repo: context.dir,
    task: context.positionals[0],
    rebuild: flag(context.values, 'rebuild'),
  })
  return {
    json: { ...done },
    text: printableLines(lines(done)),
    exitCode: done.left.length + (done.rebuilt?.left.length ?? 0) > 0 ? 1 : 0,
  }
}

function lines({ task, mended, repaired, left, rebuilt }: Output<'task.repair'>): string[] {
  return [
    ...(rebuilt ? rebuiltLines(rebuilt) : []),
    ...(task && mended ? [`The workspace of ${task.id} ${outcomes[mended]}.`] : []),
    ...repaired.map(({ name, message }) => `repaired  ${name}: ${message}`),
    ...left.flatMap(({ name, message, hint }) => [`left      ${name}: ${message}`, `          ${hint}`]),
    ...(!task && !rebuilt && repaired.length + left.length === 0 ? ['Nothing to repair.'] : []),
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
    ...(aside === undefined ? [] : [`Moved the damaged records to ${aside}.`]),
    `Rebuilt ${counted(tasks.length, 'task')}, ${counted(steps, 'step')} and ${counted(operations, 'operation')} from the vaults.`,
    ...left.flatMap(({ what, why, hint }) => [`left      ${what}: ${why}`, `          ${hint}`]),
  ]
}
