/** Decides what one prune deletes from the trash and the vault, and what it announces. Pure. */
import { day } from '../base/time.ts'
import type { Settings } from '../model/settings.ts'
import type { Task } from '../model/task.ts'
import {
  type Announced,
  announcementsOf,
  type ClosedTask,
  compaction,
  type Compaction,
  mayExpire,
  split,
} from './retention.ts'

/** What was read of the trash and the vault of a repository. */
export interface TrashFacts<Loose extends LooseFolder> {
  readonly now: Date
  /** When sizes were measured last; undefined in a new repository. */
  readonly measuredAt: string | undefined
  /** Sizes were measured this time; otherwise all of them are 0. */
  readonly measures: boolean
  readonly closed: readonly ClosedTask[]
  readonly vaultBytes: number
  /** The loose folders that are older than `trash.keepDays`. */
  readonly loose: readonly Loose[]
  /** Earlier announcements of folders that leave the trash, and of deletions for good. */
  readonly announced: { readonly slims: Announced; readonly expires: Announced }
  /** Folders leave the trash without an announcement. */
  readonly atOnce: boolean
}

interface LooseFolder {
  readonly folder: string
  readonly since: Date
}

export interface ShrinkPlan<Loose extends LooseFolder> extends Compaction {
  /** Loose folders that are deleted now, and those that will be. */
  readonly loose: { readonly goes: readonly Loose[]; readonly waits: readonly Loose[] }
  /** The announcements to remember; undefined where nothing was measured, so that the earlier ones stay. */
  readonly slimNotes: Announced | undefined
  readonly expiryNotes: Announced
  /** This counts as the time of the last measurement. */
  readonly notesTime: boolean
  /** The vault is packed if the limit is still exceeded afterwards. */
  readonly packs: boolean
}

export function shrinkPlan<Loose extends LooseFolder>(
  facts: TrashFacts<Loose>,
  trash: Settings['trash'],
): ShrinkPlan<Loose> {
  const { now, announced, measures, measuredAt } = facts
  const known = facts.atOnce ? { ...announced, slims: 'at once' as const } : announced
  const plan = compaction(facts.closed, facts.vaultBytes, trash, now, known)
  const loose = split(facts.loose, ({ folder, since }) =>
    mayExpire(since, trash.keepDays, now, announced.expires[folder]),
  )
  const expiring = [...uidsOf(plan.expiring), ...loose.waits.map(({ folder }) => folder)]
  return {
    ...plan,
    loose,
    slimNotes: measures ? announcementsOf(uidsOf(plan.announced), announced.slims, now) : undefined,
    expiryNotes: announcementsOf(expiring, announced.expires, now),
    // A new repository has nothing to measure yet.
    notesTime: measures || measuredAt === undefined,
    // If folders were announced, their deletion may be enough.
    packs: measures && plan.announced.length === 0,
  }
}

const uidsOf = (tasks: readonly Task[]) => tasks.map(({ uid }) => uid)

/** Whether a day has passed since sizes were measured, which takes time. A last time in the future counts as passed, too. */
export function isDue(last: string | undefined, now: Date): boolean {
  return last !== undefined && Math.abs(now.getTime() - Date.parse(last)) > day
}
