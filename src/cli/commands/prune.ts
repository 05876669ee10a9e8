import { ageMs } from '../ages.ts'
import { type Answer, type Context, text } from '../command.ts'
import { printable, table } from '../output.ts'

export async function worktreePrune(context: Context): Promise<Answer> {
  const { dir, values } = context
  const hours = text(values, 'hours')
  const age = hours === undefined ? text(values, 'older-than') : `${hours}h`
  const told = await context.call('worktree.prune', {
    repo: dir,
    olderThanMs: age === undefined ? undefined : ageMs(age),
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
