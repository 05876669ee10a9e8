import type { Owner } from '../core/model/task.ts'
import { processTable } from './table.ts'

/** Whether it is that very process: a pid alone may be somebody else's by now. */
export function isAlive({ pid, startedAt, boot }: Owner): boolean {
  const table = processTable()
  if (boot !== table.boot()) return false
  const entry = table.find(pid)
  return entry !== undefined && !entry.ended && entry.startedAt === startedAt
}
