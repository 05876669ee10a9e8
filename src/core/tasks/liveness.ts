/** Tells whether the process of a pending verb still lives. */
import type { Pending, Task } from '../model/task.ts'
import type { Records } from '../ports/index.ts'

/** The reason to record for a verb whose process died. */
export function whyUnended({ verb, owner }: Pending): string {
  return `${verb} by process ${owner.pid} did not end`
}

/** The task as a reading verb shows it before recovery has run: a run whose process is dead counts as failed. */
export async function asSeen(records: Records, task: Task): Promise<Task> {
  const { pending, ...rest } = task
  if (pending?.verb !== 'run' || (await records.isAlive(pending.owner))) return task
  return { ...rest, state: 'failed', reason: whyUnended(pending) }
}
