/** Strays: changes that an agent made in the user's repository besides the branches of tasks. */
import type { Work } from '../tasks/work.ts'
import type { StrayChange } from '../model/events.ts'
import type { RefChange } from '../model/git.ts'
import { strayPins } from '../model/refs.ts'
import { newOperation } from '../operations/new.ts'
import { perform } from '../operations/perform.ts'
import { holdTask } from '../tasks/hold.ts'

/** Ignores refs of offshoot and branches of tasks, which may change at any time. */
export function strays(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  branches: ReadonlySet<string>,
): StrayChange[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((what) => !what.startsWith('refs/offshoot/') && !branches.has(what))
    .filter((what) => before.get(what) !== after.get(what))
    .map((what) => ({ what, before: before.get(what) ?? null, after: after.get(what) ?? null }))
}

/** The changes as those of an operation, with pins that keep the old values from `git gc`. Pure. */
function strayRefs(changes: readonly StrayChange[], pins: string): RefChange[] {
  const refs = changes.filter(
    ({ what, before, after }) => what.startsWith('refs/') && isObject(before) && isObject(after),
  )
  return refs.flatMap(({ what, before, after }, n) => [
    { ref: what, old: before, new: after },
    ...(before === null ? [] : [{ ref: `${pins}/${n}`, old: null, new: before }]),
  ])
}

/** A symbolic ref is only reported; an undo does not change it. */
const isObject = (value: string | null) => value === null || !value.startsWith('ref: ')

/**
 * Records changed refs as an operation of the run, so that undo puts them back. Answers its id; undefined when no ref
 * changed, or when somebody has moved one again.
 */
export async function keepStrays(work: Work, changes: readonly StrayChange[]): Promise<string | undefined> {
  const { ports, task } = work
  const id = ports.ids.uid()
  const refs = strayRefs(changes, `${strayPins}/${task.uid}/${id}`)
  if (refs.length === 0) return undefined
  const operation = newOperation(work, 'run', { id, refs })
  // A failure here does not change how the run ended.
  const kept = holdTask(ports, task, { verb: 'run' }, () => perform(work, operation))
  return kept.then(
    () => id,
    () => undefined,
  )
}
