import { landedState } from './landed.ts'
import { list } from './list.ts'
import type { Ports } from './ports.ts'
import { findRepo } from './repo.ts'
import type { Settings } from './settings.ts'
import type { Task } from './task.ts'

export interface PruneInput {
  readonly dir: string
  readonly olderThanMs?: number | undefined
}

export interface PruneVerdict {
  readonly task: Task
  readonly stale: boolean
  readonly why: string
}

const day = 24 * 60 * 60 * 1000

/** What would be pruned, oldest first, and why the rest stays. Removes nothing. */
export async function prune(ports: Ports, input: PruneInput, signal?: AbortSignal): Promise<PruneVerdict[]> {
  const { place, repo } = await findRepo(ports, input.dir)
  const settings = await ports.settings.read(place.checkout)
  const tasks = await list(ports, { dir: input.dir })
  const landed = new Map<string, string>()
  for (const task of tasks) {
    const { where } = repo ? await landedState(ports, repo, task, signal) : {}
    if (where !== undefined) landed.set(task.uid, where)
  }
  return staleTasks(tasks, settings.prune, ports.clock.now(), input.olderThanMs, landed)
}

/**
 * Which open tasks nobody has touched for too long; the newest few always stay. What has landed (the branch by the
 * task's uid) can go whatever its age.
 */
export function staleTasks(
  tasks: readonly Task[],
  policy: Settings['prune'],
  now: Date,
  olderThanMs = policy.maxAgeDays * day,
  landed: ReadonlyMap<string, string> = new Map(),
): PruneVerdict[] {
  const oldestFirst = [...tasks].sort((a, b) => a.lastActiveAt.localeCompare(b.lastActiveAt))
  return oldestFirst.map((task, index) => {
    const age = now.getTime() - Date.parse(task.lastActiveAt)
    if (task.pending) return { task, stale: false, why: `${task.pending.verb} is under way` }
    const where = landed.get(task.uid)
    if (where !== undefined) return { task, stale: true, why: `landed in ${where}` }
    if (age <= olderThanMs) return { task, stale: false, why: `used within the last ${inDays(olderThanMs)}` }
    if (index >= oldestFirst.length - policy.minKeep)
      return { task, stale: false, why: 'one of the newest, always kept' }
    return { task, stale: true, why: `not used for ${inDays(age)}` }
  })
}

function inDays(ms: number): string {
  const hours = Math.round(ms / (day / 24))
  if (hours < 48) return `${hours} hours`
  return `${Math.round(hours / 24)} days`
}
