/** Decides what leaves the trash and the vault, oldest first. Pure (docs/adr/0025-expiry-is-announced.md). */
import { day } from '../base/time.ts'
import type { Settings } from '../model/settings.ts'
import type { Task } from '../model/task.ts'

export interface ClosedTask {
  readonly task: Task
  /** The time of its last operation. */
  readonly lastAt: string
  /** The bytes of its folder in the trash. */
  readonly bytes: number
}

/** The time of each announcement, by the uid of the task or the path of the loose folder. */
export type Announced = Readonly<Record<string, string>>

interface Announcements {
  /** For folders that the vault can make again. */
  readonly slims: Announced | 'at once'
  /** For tasks and folders that are deleted for good. */
  readonly expires: Announced
}

export interface Compaction {
  /** Tasks that are deleted for good now. */
  readonly expires: readonly ClosedTask[]
  /** Tasks that will be, a day from now at the earliest. */
  readonly expiring: readonly Task[]
  /** Tasks whose folders are deleted now; they can still be undone, from the vault. */
  readonly slims: readonly Task[]
  /** Tasks whose folders will be deleted. */
  readonly announced: readonly Task[]
}

/** The time between an announcement and the deletion. */
const noticeMs = day

export function compaction(
  closed: readonly ClosedTask[],
  vaultBytes: number,
  { keepDays, maxMegabytes }: Settings['trash'],
  now: Date,
  announced: Announcements,
): Compaction {
  const oldestFirst = [...closed].sort((a, b) => a.lastAt.localeCompare(b.lastAt))
  const isDue = ({ task, lastAt }: ClosedTask) =>
    task.expiry === 'begun' || isPast(new Date(lastAt), keepDays, now)
  const { goes, waits } = split(oldestFirst.filter(isDue), (one) => {
    const { task, lastAt } = one
    return task.expiry === 'begun' || mayExpire(new Date(lastAt), keepDays, now, announced.expires[task.uid])
  })
  const kept = oldestFirst.filter((one) => !isDue(one))
  let over = excess(kept, vaultBytes, maxMegabytes)
  const leaving: Task[] = []
  for (const { task, bytes } of kept) {
    if (over <= 0) break
    if (bytes === 0) continue
    leaving.push(task)
    over -= bytes
  }
  const { slims } = announced
  const folders = split(leaving, ({ uid }) => slims === 'at once' || isRipe(slims[uid], now))
  return {
    expires: goes,
    expiring: waits.map(({ task }) => task),
    slims: folders.goes,
    announced: folders.waits,
  }
}

/** By how many bytes trash and vault exceed `trash.maxMegabytes`; negative below it. */
export function excess(
  kept: readonly Pick<ClosedTask, 'bytes'>[],
  vaultBytes: number,
  maxMegabytes: number,
): number {
  return kept.reduce((sum, { bytes }) => sum + bytes, vaultBytes) - maxMegabytes * 1_000_000
}

/** Whether `keepDays` have passed since then, by the present clock. */
export function isPast(since: Date, keepDays: number, now: Date): boolean {
  return now.getTime() - since.getTime() > keepDays * day
}

/**
 * Whether something may be deleted for good. One reading of the clock is not enough, because the clock may have jumped: a
 * deletion is announced when it is due, and checked again a day later. If the clock was set right in between, it is no
 * longer due, or its announcement lies in the future. With `keepDays: 0` the clock does not matter.
 */
export function mayExpire(since: Date, keepDays: number, now: Date, announced: string | undefined): boolean {
  if (keepDays === 0) return true
  // A task that was opened and closed again after its announcement needs a new one.
  return announced !== undefined && isPast(since, keepDays, new Date(announced)) && isRipe(announced, now)
}

/** Events of other processes, and of steps that took long, may carry slightly earlier times. */
const toleratedMs = 5 * 60_000

/** Drops announcements made while the clock was ahead: some later event carries an earlier time. */
export function withoutClockJumps(
  announced: Announced,
  later: readonly { readonly at: string }[],
): Announced {
  const earliest = later.reduce((least, { at }) => Math.min(least, Date.parse(at)), Infinity)
  return Object.fromEntries(
    Object.entries(announced).filter(([, at]) => Date.parse(at) <= earliest + toleratedMs),
  )
}

function isRipe(at: string | undefined, now: Date): boolean {
  return at !== undefined && now.getTime() - Date.parse(at) >= noticeMs
}

/** The announcements to remember: an old one keeps its time, unless that lies in the future; a new one is of now. */
export function announcementsOf(keys: readonly string[], before: Announced, now: Date): Announced {
  const since = (at: string | undefined) =>
    at !== undefined && Date.parse(at) <= now.getTime() ? at : now.toISOString()
  return Object.fromEntries(keys.map((key) => [key, since(before[key])]))
}

export function split<T>(all: readonly T[], isGoing: (one: T) => boolean): { goes: T[]; waits: T[] } {
  return { goes: all.filter(isGoing), waits: all.filter((one) => !isGoing(one)) }
}
