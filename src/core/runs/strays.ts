/** What an agent has changed in the user's repository besides its own branch. */
import type { Work } from '../tasks/work.ts'
import type { StrayChange } from '../model/events.ts'
import type { RefChange } from '../model/git.ts'
import type { Operation } from '../model/operation.ts'
import { isOurs, strayPinsOf } from '../model/refs.ts'
import { perform } from '../operations/perform.ts'
import { holdTask } from '../tasks/hold.ts'

/** Refs of ours, and the branches of tasks, may change at any time. */
export function strays(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  branches: ReadonlySet<string>,
): StrayChange[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((what) => !isOurs(what) && !branches.has(what))
    .filter((what) => before.get(what) !== after.get(what))
    .map((what) => ({ what, before: before.get(what) ?? null, after: after.get(what) ?? null }))
}

/** As an operation would have changed them, with what keeps their old values. Pure. */
function strayRefs(changes: readonly StrayChange[], pins: string): RefChange[] {
  const refs = changes.filter(
    ({ what, before, after }) => what.startsWith('refs/') && isObject(before) && isObject(after),
  )
  return refs.flatMap(({ what, before, after }, n) => [
    { ref: what, old: before, new: after },
    ...(before === null ? [] : [{ ref: `${pins}/${n}`, old: null, new: before }]),
  ])
}

/** A ref that names another one is told, and left as it is. */
const isObject = (value: string | null) => value === null || !value.startsWith('ref: ')

/**
 * What was done to refs becomes an operation of the run: undo puts them back. Answers its id; undefined when there is
 * nothing to put back, or when somebody has moved them again.
 */
export async function keepStrays(work: Work, changes: readonly StrayChange[]): Promise<string | undefined> {
  const { ports, task } = work
  const id = ports.ids.uid()
  const refs = strayRefs(changes, strayPinsOf(task.uid, id))
  if (refs.length === 0) return undefined
  const at = ports.clock.now().toISOString()
  const operation: Operation = { id, verb: 'run', task: task.uid, at, refs, record: { from: {}, to: {} } }
  // The run has ended well or not, whatever becomes of this.
  const kept = holdTask(ports, task, { verb: 'run' }, () => perform(work, operation))
  return kept.then(
    () => id,
    () => undefined,
  )
}
