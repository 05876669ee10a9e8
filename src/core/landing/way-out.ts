/** The hint of a conflict: how the user can solve it. */
import { quoted } from '../base/shell-quote.ts'
import type { Conflict } from '../model/tree.ts'
import type { Task } from '../model/task.ts'
import type { LandingStrategy, LandingWork } from './strategy.ts'

const inTheWay: ReadonlySet<Conflict['kind']> = new Set(['changed', 'untracked', 'case', 'symlink'])

/** Advises to move the user's files away, or to update the task and solve the conflicts there. Pure. */
export function wayOut(
  task: Task,
  { lands, takes }: LandingStrategy,
  { input, offer }: Pick<LandingWork, 'input' | 'offer'>,
  conflicts: readonly Conflict[],
): string {
  const merges = conflicts.filter(({ kind }) => !inTheWay.has(kind))
  const isCommit = lands === 'commit' && !task.shadow
  const asPatch = isCommit ? `, or land beside them: offshoot accept ${task.id} --as patch` : '; then repeat'
  if (merges.length === 0) return `Commit your changes to those files, or move the files away${asPatch}.`
  if (isCommit && offer.onCheckout)
    return `${task.id} was updated to your uncommitted changes. Commit them first${asPatch}.`
  const meetsFiles = lands === 'files' && !task.shadow
  const from = meetsFiles ? ' --dirty' : input.onto === undefined ? '' : ` --onto ${quoted(input.onto)}`
  const update = `offshoot update ${task.id}${from} --conflicts markers writes the conflicts into the workspace, to resolve them there`
  const isText = merges.every(({ kind }) => kind === 'content' || kind === 'add/add')
  const here = meetsFiles && takes.includes('conflicts') && isText && input.conflicts !== 'markers'
  return here
    ? `${update}; offshoot accept ${task.id} --conflicts markers writes them into your files.`
    : `${update}.`
}
