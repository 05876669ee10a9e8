import { AppError } from '../../core/model/errors.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { printable } from '../output.ts'

export async function rewind(context: Context): Promise<Answer> {
  const { dir, values, positionals } = context
  const to = text(values, 'to') ?? ''
  if (!/^\d+$/.test(to)) {
    throw new AppError('wrongUsage', '`rewind`: --to takes the number of a step.', {
      hint: 'Give it so: --to 3 (0 is the start).',
    })
  }
  const input = { repo: dir, task: positionals[0], to: Number(to), force: flag(values, 'force') }
  const done = await context.call('task.rewind', input)
  const lines = [`Rewound ${done.task.id} to step ${to}; that is step ${done.checkpoint.n} now.`]
  if (done.kept !== undefined) lines.push(`  What was there before is step ${done.kept}.`)
  lines.push(`  undo: offshoot undo ${done.operation.slice(0, 6)}`)
  return { json: { ...done }, text: printable(lines.join('\n')) }
}
