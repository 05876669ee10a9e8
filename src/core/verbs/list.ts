/** The verb list: shows the tasks of a repository. */
import type { TaskState } from '../model/enums.ts'
import type { Task } from '../model/task.ts'
import type { Records } from '../ports/index.ts'
import { asSeen } from '../tasks/liveness.ts'
import { findRepo } from '../tasks/repo.ts'

export interface ListInput {
  readonly dir: string
  /** Closed tasks too. */
  readonly all?: boolean | undefined
  readonly state?: TaskState | undefined
}

/** Newest first, as of their last event. Starts no process. */
export async function list(records: Records, input: ListInput): Promise<Task[]> {
  const { repo } = await findRepo(records, input.dir)
  if (!repo) return []
  const openOnly = !input.all && input.state === undefined
  const found = await records.store.readTasks({ repo: repo.id, ...(openOnly && { open: true }) })
  const tasks = await Promise.all(found.map((task) => asSeen(records, task)))
  return input.state === undefined ? tasks : tasks.filter((task) => task.state === input.state)
}
