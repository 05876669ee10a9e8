import { AppError } from '../../core/errors.ts'
import { type Answer, type Context, text } from '../command.ts'
import { printable, table } from '../output.ts'

const units = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

export async function worktreePrune(context: Context): Promise<Answer> {
  const { dir, values } = context
  const hours = text(values, 'hours')
  const age = hours === undefined ? text(values, 'older-than') : `${hours}h`
  const told = await context.call('worktree.prune', {
    repo: dir,
    olderThanMs: age === undefined ? undefined : ms(age),
  })
  const rows = [
    ...told.stale.map(({ task, why }) => [task.id, 'can go', why]),
    ...told.kept.map(({ task, why }) => [task.id, 'stays', why]),
  ]
  return {
    json: { ...told, removed: [] },
    text: rows.length === 0 ? 'No worktrees here.' : printable(table(rows)),
  }
}

/** `3d`, `12h`, `30m`, `2w` in milliseconds. */
function ms(age: string): number {
  const [, count, unit] = /^(\d+)([mhdw])$/.exec(age) ?? []
  if (count !== undefined && unit !== undefined) return Number(count) * units[unit as keyof typeof units]
  throw new AppError('WT_019', `${JSON.stringify(age)} is not an age.`, {
    hint: 'Write it as 30m, 12h, 3d or 2w.',
  })
}
