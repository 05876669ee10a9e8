import { AppError } from '../../core/errors.ts'
import type { Output } from '../../protocol/actions.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { printable, table } from '../output.ts'

const units = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

export async function prune(context: Context): Promise<Answer> {
  const { dir, values, paint } = context
  const hours = text(values, 'hours')
  const age = hours === undefined ? text(values, 'older-than') : `${hours}h`
  const pruned = await context.call('task.prune', {
    repo: dir,
    olderThanMs: age === undefined ? undefined : ms(age),
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
  return `${table(rows)}\n${count}, ${skipped.length} skipped, ${errors.length} errors`
}

/** `3d`, `12h`, `30m`, `2w` in milliseconds. */
function ms(age: string): number {
  const [, count, unit] = /^(\d+)([mhdw])$/.exec(age) ?? []
  if (count !== undefined && unit !== undefined) return Number(count) * units[unit as keyof typeof units]
  throw new AppError('WT_019', `${JSON.stringify(age)} is not an age.`, {
    hint: 'Write it as 30m, 12h, 3d or 2w.',
  })
}
