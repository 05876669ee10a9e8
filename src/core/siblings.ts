import type { Records } from './ports/index.ts'
import { isOpen, type Task } from './model/task.ts'

/** The open tasks that were made to do the same, once this one is closed. */
export async function siblingsOf({ store }: Records, task: Task): Promise<Task[]> {
  if (task.group === undefined || isOpen(task)) return []
  return (await store.readTasks({ repo: task.repo, open: true })).filter(({ group }) => group === task.group)
}
