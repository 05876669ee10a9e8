/** Decides which tasks prune may remove, and why the others stay. Pure. */
import { ageText, day } from '../base/time.ts'
import type { Settings } from '../model/settings.ts'
import type { Task } from '../model/task.ts'

export interface PruneOptions {
  /** Instead of `prune.maxAgeDays`. */
  readonly olderThanMs?: number | undefined
  /** Also removes tasks with files that no step holds, after a step of them was taken. */
  readonly force?: boolean | undefined
  /** The branches of the removed tasks stay; instead of `prune.keepBranches`. */
  readonly keepBranches?: boolean | undefined
}

/** The facts that need a look at the repository or the workspace. */
export interface PruneFacts {
  /** The branch that its work has landed in. */
  readonly landed?: string | undefined
  /** The workspace is missing. */
  readonly gone?: boolean | undefined
  /** The path that the user has moved the workspace to. */
  readonly movedTo?: string | undefined
  /** How many files no commit and no step holds. */
  readonly uncommitted?: number | undefined
}

export interface PruneVerdict {
  readonly task: Task
  readonly goes: boolean
  readonly why: string
  /** The branch stays: the user wishes it, or nobody has looked at the work yet. */
  readonly keepsBranch?: true
}

interface Policy extends Pick<Settings, 'prune'> {
  readonly limits: Pick<Settings['limits'], 'perRepo'>
}

/** One verdict per task, oldest first. The newest `prune.minKeep` always stay, and so do tasks in use. */
export function pruneVerdicts(
  tasks: readonly Task[],
  policy: Policy,
  now: Date,
  options: PruneOptions = {},
  facts: ReadonlyMap<string, PruneFacts> = new Map(),
): PruneVerdict[] {
  const oldestFirst = [...tasks].sort((a, b) => a.lastActiveAt.localeCompare(b.lastActiveAt))
  return oldestFirst.map((task, index) => {
    const known = facts.get(task.uid) ?? {}
    const stays = (why: string) => ({ task, goes: false, why })
    if (task.pending) return stays(`${task.pending.verb} is under way`)
    if (task.queued) return stays('a run of it waits for its turn')
    if (task.shadow) return stays('it works in your checkout')
    if (known.movedTo !== undefined) return stays(`its workspace was moved to ${known.movedTo}`)
    const newer = oldestFirst.length - 1 - index
    const reason = reasonToGo(task, newer, policy, now, options, known)
    if (!reason.goes) return stays(known.gone ? goneHint(task) : reason.why)
    const protectedBy = findProtection(known.uncommitted ?? 0, policy, options)
    if (protectedBy !== undefined) return stays(protectedBy)
    const { keepBranches = policy.prune.keepBranches } = options
    return { task, ...reason, ...(keepBranches && { keepsBranch: true as const }) }
  })
}

function reasonToGo(
  task: Task,
  newer: number,
  { prune, limits }: Policy,
  now: Date,
  { olderThanMs = prune.maxAgeDays * day }: PruneOptions,
  { landed }: PruneFacts,
): Omit<PruneVerdict, 'task'> {
  if (landed !== undefined) return { goes: true, why: `landed in ${landed}` }
  if (prune.cleanupOnComplete && task.state === 'completed')
    return { goes: true, why: 'completed', keepsBranch: true }
  const age = now.getTime() - Date.parse(task.lastActiveAt)
  const isOld = age > olderThanMs
  const isOver = newer >= limits.perRepo
  if (!isOld && !isOver) return { goes: false, why: `used within the last ${ageText(olderThanMs)}` }
  if (newer < prune.minKeep) return { goes: false, why: 'one of the newest, always kept' }
  if (isOld) return { goes: true, why: `not used for ${ageText(age)}` }
  return { goes: true, why: `more than ${limits.perRepo} are open` }
}

function goneHint({ id }: Task): string {
  return `its workspace is gone; offshoot start ${id} makes it again`
}

/** Why a task stays that has this many files in no commit and no step. */
export function findProtection(
  uncommitted: number,
  { prune }: Pick<Settings, 'prune'>,
  { force }: PruneOptions,
): string | undefined {
  if (uncommitted === 0 || force || !prune.protectUncommitted) return undefined
  return `${uncommitted} ${uncommitted === 1 ? 'file' : 'files'} that no commit and no step holds`
}
