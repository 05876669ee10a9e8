/** `prune`: moves tasks that nobody needs any more into the trash (docs/adr/0021-prune-in-batches.md). */
import { AppError } from '../../core/model/errors.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { ageMs } from '../ages.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { counted } from '../../core/base/counted.ts'
import { requireCombinable } from '../../core/base/exclusions.ts'
import { table } from '../output.ts'

export async function prune(context: Context): Promise<Answer> {
  const { dir, values } = context
  const [hours, olderThan] = [text(values, 'hours'), text(values, 'older-than')]
  requireCombinable({ '--older-than': olderThan, '--hours': hours }, [
    { options: ['--older-than', '--hours'] },
  ])
  const pruned = await context.call('task.prune', {
    repo: dir,
    olderThanMs: ageOf(olderThan, hours),
    dryRun: flag(values, 'dry-run'),
    force: flag(values, 'force'),
    keepBranches: flag(values, 'keep-branches') || undefined,
  })
  return {
    json: { ...pruned },
    text: await summary(pruned),
    exitCode: pruned.errors.length > 0 ? 1 : 0,
  }
}

function ageOf(olderThan: string | undefined, hours: string | undefined): number | undefined {
  if (hours === undefined) return olderThan === undefined ? undefined : ageMs(olderThan, '--older-than')
  if (/^\d+$/.test(hours)) return ageMs(`${hours}h`, '--hours')
  throw new AppError('wrongUsage', `--hours takes a number, not ${JSON.stringify(hours)}.`, {
    hint: 'Write it as --hours 12, or give an age: --older-than 12h',
  })
}

async function summary({ dryRun, stale, removed, skipped, errors }: Output<'task.prune'>): Promise<string> {
  const rows = [
    ...(dryRun ? stale.map(({ task, why }) => [task.id, 'would be pruned', why]) : []),
    ...removed.map(({ task, why, operation }) => [
      task.id,
      'pruned',
      `${why}; undo: offshoot undo ${operation.slice(0, 6)}`,
    ]),
    ...skipped.map(({ task, why }) => [task.id, 'kept', why]),
    ...errors.map(({ task, error }) => [task.id, 'failed', `${error.code} ${error.message}`]),
  ]
  if (rows.length === 0) return 'Nothing to prune: this repository has no tasks.'
  const pruned = counted(dryRun ? stale.length : removed.length, 'task')
  const count = dryRun ? `Would prune ${pruned}` : `Pruned ${pruned}`
  return `${await table(rows)}\n${count}, kept ${skipped.length}, ${counted(errors.length, 'error')}`
}
