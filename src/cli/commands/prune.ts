import { AppError } from '../../core/model/errors.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { ageMs } from '../ages.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { counted, printable, table } from '../output.ts'

export async function prune(context: Context): Promise<Answer> {
  const { dir, values, paint } = context
  const [hours, olderThan] = [text(values, 'hours'), text(values, 'older-than')]
  if (hours !== undefined && olderThan !== undefined)
    throw new AppError('wrongUsage', '--older-than and --hours both say how old.', {
      hint: 'Give one of them.',
    })
  const age = hours === undefined ? olderThan : `${hours}h`
  const pruned = await context.call('task.prune', {
    repo: dir,
    olderThanMs: age === undefined ? undefined : ageMs(age),
    dryRun: flag(values, 'dry-run'),
    force: flag(values, 'force'),
  })
  for (const warning of pruned.warnings) context.tell(`${paint('yellow', 'warning:')} ${printable(warning)}`)
  return {
    json: { ...pruned },
    text: printable(summary(pruned)),
    exitCode: pruned.errors.length > 0 ? 1 : 0,
  }
}

function summary({ dryRun, stale, removed, skipped, errors }: Output<'task.prune'>): string {
  const rows = [
    ...(dryRun ? stale.map(({ task, why }) => [task.id, 'would go', why]) : []),
    ...removed.map(({ task, why, operation }) => [
      task.id,
      'removed',
      `${why}; undo: offshoot undo ${operation.slice(0, 6)}`,
    ]),
    ...skipped.map(({ task, why }) => [task.id, 'stays', why]),
    ...errors.map(({ task, error }) => [task.id, 'failed', `${error.code} ${error.message}`]),
  ]
  if (rows.length === 0) return 'No tasks here.'
  const count = dryRun ? `${stale.length} would go` : `${removed.length} removed`
  return `${table(rows)}\n${count}, ${skipped.length} skipped, ${counted(errors.length, 'error')}`
}
