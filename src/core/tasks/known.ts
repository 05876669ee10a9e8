/** Reads the records of a list of uids. */
import type { Store } from '../ports/store.ts'
import type { Task } from '../model/task.ts'

/** Each task that has a record, by its uid, in the order of the uids. */
export async function readKnown(
  store: Pick<Store, 'findTaskByUid'>,
  uids: Iterable<string>,
): Promise<ReadonlyMap<string, Task>> {
  const known = new Map<string, Task>()
  for (const uid of new Set(uids)) {
    const task = await store.findTaskByUid(uid)
    if (task) known.set(uid, task)
  }
  return known
}
