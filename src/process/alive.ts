/** Whether an owner is still running. */
import type { Owner } from '../core/model/task.ts'
import { processTable } from './table.ts'

/** Compares start time and boot, too: another process may have the pid by now. */
export function isAlive({ pid, startedAt, boot }: Owner): boolean {
  const table = processTable()
  if (boot !== table.boot()) return false
  const entry = table.find(pid)
  return entry !== undefined && !entry.ended && entry.startedAt === startedAt
}
