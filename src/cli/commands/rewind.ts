/** `rewind`: puts the workspace back to an earlier step. */
import { AppError } from '../../core/model/errors.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { printableLines } from '../output.ts'

export async function rewind(context: Context): Promise<Answer> {
  const { dir, values, positionals } = context
  const to = text(values, 'to') ?? ''
  if (!/^\d+$/.test(to)) {
    const wrong =
      to === '' ? 'missing option --to N' : `--to takes the number of a step, not ${JSON.stringify(to)}`
    throw new AppError('wrongUsage', `\`rewind\`: ${wrong}.`, {
      hint: `offshoot ${['rewind', ...positionals].join(' ')} --to 0 goes back to the start.`,
    })
  }
  const input = { repo: dir, task: positionals[0], to: Number(to), force: flag(values, 'force') }
  const done = await context.call('task.rewind', input)
  const lines = [`Rewound ${done.task.id} to step ${to}, as its new step ${done.checkpoint.n}`]
  if (done.kept !== undefined) lines.push(`  the state before is step ${done.kept}`)
  lines.push(`  undo: offshoot undo ${done.operation.slice(0, 6)}`)
  return { json: { ...done }, text: printableLines(lines) }
}
