/** Where the output of a task's detached runs is. */
import { createHash } from 'node:crypto'
import { runLogFile } from '../model/layout.ts'
import type { Task } from '../model/task.ts'

/** The name includes a hash of the workspace, since tasks of two repositories may have the same id. */
export function runLog(home: string, task: Pick<Task, 'id' | 'path'>): string {
  const place = createHash('sha256').update(task.path).digest('hex').slice(0, 8)
  return runLogFile(home, `${task.id}-${place}`)
}
