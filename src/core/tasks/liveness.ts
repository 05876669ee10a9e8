import type { Pending, Task } from '../model/task.ts'
import type { Records } from '../ports/index.ts'

/** Names the verb and the dead process that did not finish it. */
export function whyUnended({ verb, owner }: Pending): string {
  return `${verb} by process ${owner.pid} did not end`
}

/** As a look finds it before recovery had its turn: a run whose process is gone has failed. */
export async function asSeen(records: Records, task: Task): Promise<Task> {
  const { pending, ...rest } = task
  if (pending?.verb !== 'run' || (await records.isAlive(pending.owner))) return task
  return { ...rest, state: 'failed', reason: whyUnended(pending) }
}
