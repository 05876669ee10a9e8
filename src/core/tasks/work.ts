/** The task that a verb works on: its ports, its repository, its record, the way to cancel, and who watches. */
import type { Watch } from '../base/watch.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'

export interface Work {
  readonly ports: Ports
  readonly repo: Repo
  readonly task: Task
  readonly signal?: AbortSignal | undefined
  readonly watch?: Watch | undefined
}
