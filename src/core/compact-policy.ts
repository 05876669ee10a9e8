/** What has to leave the trash and the vault, oldest first. Decided from what was read, and from nothing else. */
import { day } from './day.ts'
import type { Settings } from './settings.ts'
import type { Task } from './task.ts'

export interface ClosedTask {
  readonly task: Task
  /** When its last operation was done. */
  readonly lastAt: string
  /** What its part of the trash takes. */
  readonly bytes: number
}

/** When the leaving of a task's folder was announced, by its uid. */
export type Announced = Readonly<Record<string, string>>

export interface Compaction {
  /** Too old to be undone: all of it goes. */
  readonly expires: readonly Task[]
  /** Their folders go now; they can still be undone. */
  readonly slims: readonly Task[]
  /** Their folders will go. */
  readonly announced: readonly Task[]
}

/** What was announced is waited for this long. */
const noticeMs = day

export function compaction(
  closed: readonly ClosedTask[],
  vaultBytes: number,
  { keepDays, maxMegabytes }: Settings['trash'],
  now: Date,
  announced: Announced | 'at once',
): Compaction {
  const oldestFirst = [...closed].sort((a, b) => a.lastAt.localeCompare(b.lastAt))
  const isExpired = ({ task, lastAt }: ClosedTask) =>
    task.expiry === 'begun' || now.getTime() - Date.parse(lastAt) > keepDays * day
  const kept = oldestFirst.filter((one) => !isExpired(one))
  let over = kept.reduce((sum, { bytes }) => sum + bytes, vaultBytes) - maxMegabytes * 1_000_000
  const leaving: Task[] = []
  for (const { task, bytes } of kept) {
    if (over <= 0) break
    if (bytes === 0) continue
    leaving.push(task)
    over -= bytes
  }
  const isRipe = ({ uid }: Task) => {
    if (announced === 'at once') return true
    const at = announced[uid]
    return at !== undefined && now.getTime() - Date.parse(at) >= noticeMs
  }
  return {
    expires: oldestFirst.filter(isExpired).map(({ task }) => task),
    slims: leaving.filter(isRipe),
    announced: leaving.filter((task) => !isRipe(task)),
  }
}
