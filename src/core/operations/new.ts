/** A new operation, before it is carried out. See docs/adr/0015-operations-staged-then-finished.md. */
import { now } from '../base/time.ts'
import type { Operation } from '../model/operation.ts'
import type { Work } from '../tasks/work.ts'

/**
 * An operation of this task with an id of its own and the present time, which changes only what `parts` names:
 * `newOperation(work, 'reject', { refs })` moves refs and leaves files, workspace and record alone.
 */
export function newOperation<Parts extends Partial<Omit<Operation, 'verb' | 'task'>>>(
  { ports, task }: Pick<Work, 'ports' | 'task'>,
  verb: Operation['verb'],
  parts: Parts,
): Operation & Parts {
  const { auto, record = { from: {}, to: {} } } = parts
  const by = auto ? 'auto-revert' : verb
  return {
    id: ports.ids.uid(),
    verb,
    task: task.uid,
    at: now(ports),
    refs: [],
    ...parts,
    record: typeof record.to.closedAt === 'string' ? closedBy(by, record) : record,
  }
}

function closedBy(by: string, { from, to }: Operation['record']): Operation['record'] {
  return { from: { ...from, closedBy: null }, to: { ...to, closedBy: by } }
}
