/** What has to leave the trash and the vault, oldest first. Decided from what was read, and from nothing else. */
import { day } from '../base/time.ts'
import type { Settings } from '../model/settings.ts'
import type { Task } from '../model/task.ts'

export interface ClosedTask {
  readonly task: Task
  /** When its last operation was done. */
  readonly lastAt: string
  /** What its part of the trash takes. */
  readonly bytes: number
}

/** When the leaving of something was announced, by the uid of its task, or by its path. */
export type Announced = Readonly<Record<string, string>>

interface Announcements {
  /** Of folders that the vault can make again. */
  readonly slims: Announced | 'at once'
  /** Of what goes for good. */
  readonly expires: Announced
}

export interface Compaction {
  /** Too old to be undone: all of it goes. */
  readonly expires: readonly ClosedTask[]
  /** The same, a day from now at the earliest. */
  readonly expiring: readonly Task[]
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
  announced: Announcements,
): Compaction {
  const oldestFirst = [...closed].sort((a, b) => a.lastAt.localeCompare(b.lastAt))
  const isDue = ({ task, lastAt }: ClosedTask) =>
    task.expiry === 'begun' || isPast(new Date(lastAt), keepDays, now)
  const { goes, waits } = parted(oldestFirst.filter(isDue), (one) => {
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
  const folders = parted(leaving, ({ uid }) => slims === 'at once' || isRipe(slims[uid], now))
  return {
    expires: goes,
    expiring: waits.map(({ task }) => task),
    slims: folders.goes,
    announced: folders.waits,
  }
}

/** How much more there is than there may be. */
export function excess(
  kept: readonly Pick<ClosedTask, 'bytes'>[],
  vaultBytes: number,
  maxMegabytes: number,
): number {
  return kept.reduce((sum, { bytes }) => sum + bytes, vaultBytes) - maxMegabytes * 1_000_000
}

/** Whether the trash has kept something of that time for long enough, as far as the clock can tell. */
export function isPast(since: Date, keepDays: number, now: Date): boolean {
  return now.getTime() - since.getTime() > keepDays * day
}

/**
 * What goes for good goes by no single look at the clock, which may have jumped: it is announced when it is due, and a day
 * later it is looked at again. A clock that was set right meanwhile says that it is not due, or that the announcement is
 * still to come. Where nothing is to be kept at all, the clock has no say.
 */
export function mayExpire(since: Date, keepDays: number, now: Date, announced: string | undefined): boolean {
  if (keepDays === 0) return true
  // What came back and was closed anew since it was announced has not been announced.
  return announced !== undefined && isPast(since, keepDays, new Date(announced)) && isRipe(announced, now)
}

/** Times of another process, or of a step that took long, may be a little behind. */
const toleratedMs = 5 * 60_000

/** The announcements that no later event is older than: between the two the clock was set back, and so it had been ahead. */
export function unbroken(announced: Announced, later: readonly { readonly at: string }[]): Announced {
  const earliest = later.reduce((least, { at }) => Math.min(least, Date.parse(at)), Infinity)
  return Object.fromEntries(
    Object.entries(announced).filter(([, at]) => Date.parse(at) <= earliest + toleratedMs),
  )
}

function isRipe(at: string | undefined, now: Date): boolean {
  return at !== undefined && now.getTime() - Date.parse(at) >= noticeMs
}

/** What is to be remembered of what waits: since when. An announcement of a time that is still to come is void. */
export function announcing(keys: readonly string[], before: Announced, now: Date): Announced {
  const since = (at: string | undefined) =>
    at !== undefined && Date.parse(at) <= now.getTime() ? at : now.toISOString()
  return Object.fromEntries(keys.map((key) => [key, since(before[key])]))
}

export function parted<T>(all: readonly T[], isGoing: (one: T) => boolean): { goes: T[]; waits: T[] } {
  return { goes: all.filter(isGoing), waits: all.filter((one) => !isGoing(one)) }
}
