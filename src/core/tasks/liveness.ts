/** Tells what the record of a task does not: that the process of its verb is dead, or that its workspace is gone or long unused. */
import { ageText, day } from '../base/time.ts'
import { defaultSettings } from '../model/settings.ts'
import { isOpen, type Pending, runsOf, runsPending, type ShownTask, type Task } from '../model/task.ts'
import type { Records } from '../ports/index.ts'

/** The reason to record for a verb whose process died. */
export function whyUnended({ verb, owner }: Pick<Pending, 'verb' | 'owner'>): string {
  return `${verb} by process ${owner.pid} did not end`
}

/**
 * The end to record for a run that nobody ended. If its last step could not be kept, that is why it failed, whatever became
 * of its process.
 */
export function unendedRun(task: Task, pending: Pending): { reason: string; trigger: Trigger } {
  if (task.unkept && task.reason !== undefined) return { reason: task.reason, trigger: 'failure' }
  return { reason: whyUnended(pending), trigger: 'shutdown' }
}

type Trigger = NonNullable<Task['trigger']>

/**
 * The tasks as lists show them. An open task without its workspace, or that nobody used for `prune.maxAgeDays`, is stale;
 * its record keeps its state, because the next use of the task makes the workspace again.
 */
export async function asListed(records: Records, tasks: readonly Task[]): Promise<ShownTask[]> {
  const read = new Map<string, Promise<number>>()
  const maxAgeDays = (origin: string) => {
    // Settings with a mistake are the matter of verbs that act on them.
    const found =
      read.get(origin) ?? records.readMaxAgeDays(origin).catch(() => defaultSettings.prune.maxAgeDays)
    read.set(origin, found)
    return found
  }
  return Promise.all(
    tasks.map(async (task) => {
      const seen = await asSeen(records, task)
      if (!isOpen(seen) || seen.pending) return seen
      const why = await whyStale(records, seen, maxAgeDays)
      if (why === undefined) return seen
      const reason = seen.reason === undefined ? why : `${why}; ${seen.reason}`
      return { ...seen, state: 'stale', was: seen.state, reason }
    }),
  )
}

async function whyStale(
  { clock, files }: Records,
  { lastActiveAt, origin, path }: Task,
  maxAgeDays: (origin: string) => Promise<number>,
): Promise<string | undefined> {
  // What cannot be looked at may still be there.
  const kind = await files.readKind(path).catch(() => 'folder' as const)
  if (kind !== 'folder') return 'its workspace is gone'
  const age = clock.now().getTime() - Date.parse(lastActiveAt)
  return age > (await maxAgeDays(origin)) * day ? `not used for ${ageText(age)}` : undefined
}

/** Whether the process of the verb lives; of several runs, that of any. */
export async function isUnderWay(records: Pick<Records, 'isAlive'>, task: Task): Promise<boolean> {
  if (task.pending?.verb !== 'run') return task.pending !== undefined && records.isAlive(task.pending.owner)
  return (await livingRuns(records, task)).length > 0
}

/** The task as a reading verb shows it before recovery has run: a run whose process is dead counts as failed. */
export async function asSeen(records: Pick<Records, 'isAlive'>, task: Task): Promise<Task> {
  const { pending, ...rest } = task
  if (pending?.verb !== 'run') return task
  const runs = await livingRuns(records, task)
  const { asks, ...others } = rest
  const seen = asks && runs.some(({ run }) => run === asks.run) ? rest : others
  const living = runsPending(runs)
  return living
    ? { ...seen, pending: living }
    : { ...seen, state: 'failed', reason: unendedRun(task, pending).reason }
}

async function livingRuns({ isAlive }: Pick<Records, 'isAlive'>, task: Task) {
  const runs = runsOf(task)
  const alive = await Promise.all(runs.map(({ owner }) => isAlive(owner)))
  return runs.filter((_, n) => alive[n])
}
