/**
 * Auto-revert: rejects tasks that failed, were cut off or are not used, as the settings say. Nothing reaches the user's
 * branch that way, and undo brings a task back.
 */
import { isBelow } from '../base/below.ts'
import { counted } from '../base/counted.ts'
import type { Work } from '../tasks/work.ts'
import { now } from '../base/time.ts'
import { appError } from '../model/errors.ts'
import type { AutoRevert } from '../model/events.ts'
import { redacted } from '../model/redact.ts'
import type { Settings } from '../model/settings.ts'
import { type Idling, isOpen, type Task } from '../model/task.ts'
import { closing } from '../operations/close.ts'
import { newOperation } from '../operations/new.ts'
import { perform } from '../operations/perform.ts'
import type { Ports } from '../ports/index.ts'
import { holdTask, settingsOf } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'
import { findRepo } from '../tasks/repo.ts'
import { rejectHeld } from './close-task.ts'

const minute = 60_000

/** Why the task is due to be rejected; undefined when it is not. */
export function findTrigger(task: Task, settings: Settings, now: Date): AutoRevert | undefined {
  if (!isOpen(task) || task.pending || task.queued) return undefined
  const trigger = dueTrigger({ ...task, shadow: task.shadow !== undefined }, settings, now)
  if (trigger === undefined) return undefined
  const idle = `nobody used it for ${counted(idleMinutes(task, now), 'minute')}`
  return { trigger, reason: trigger === 'idle' ? idle : (task.reason ?? '') }
}

type Conditions = Pick<Idling, 'trigger' | 'shadow' | 'lastActiveAt'>

function dueTrigger(
  task: Conditions,
  { autoRevert }: Settings,
  now: Date,
): AutoRevert['trigger'] | undefined {
  const counts = (which: Settings['autoRevert']['idle']) =>
    which === 'always' || (which === 'shadow' && task.shadow)
  const { trigger } = task
  if (trigger !== undefined && counts(autoRevert[trigger])) return trigger
  return counts(autoRevert.idle) && idleMinutes(task, now) >= autoRevert.idleMinutes ? 'idle' : undefined
}

function idleMinutes({ lastActiveAt }: Pick<Task, 'lastActiveAt'>, now: Date): number {
  return Math.floor((now.getTime() - Date.parse(lastActiveAt)) / minute)
}

/** A quick test without settings: a task is never idle before a minute has passed. */
function mayBeDue(task: Conditions, now: Date): boolean {
  return task.trigger !== undefined || idleMinutes(task, now) > 0
}

/** After a run: rejects the task if that is due, or removes a completed one if `prune.cleanupOnComplete` is set. */
export async function afterRun(work: Work): Promise<Task> {
  const { ports, task } = work
  const settings = await settingsOf(ports, task)
  const auto = task.trigger && findTrigger(task, settings, ports.clock.now())
  if (auto) return revert(work, settings, auto)
  if (task.state !== 'completed' || task.shadow || task.queued || !settings.prune.cleanupOnComplete)
    return task
  // If it fails, prune finds the task later.
  return cleanAway(work).catch(() => task)
}

async function revert(work: Work, settings: Settings, { trigger }: AutoRevert): Promise<Task> {
  const { ports, task: named } = work
  try {
    return await holdTask(ports, named, { verb: 'reject' }, async () => {
      // Somebody may have used or rejected the task while we waited for the lock.
      const task = (await ports.store.findTaskByUid(named.uid)) ?? named
      const auto = findTrigger(task, settings, ports.clock.now())
      if (!auto) return task
      const keepBranch = settings.keepFailed && task.state === 'failed'
      return (await rejectHeld({ ...work, task, signal: undefined }, { keepBranch, auto })).task
    })
  } catch (thrown) {
    const error = appError(thrown)
    // The next command tries again; the same reason is recorded only once.
    const reason = redacted(error.message)
    if (error.problem === 'locked' || reason === named.unreverted) return named
    const failed = { type: 'revert.failed', trigger, reason } as const
    return await append(ports, named.uid, failed, now(ports))
  }
}

/** Closes a completed task. Its branch stays, because nobody has looked at the work yet. */
function cleanAway(work: Work): Promise<Task> {
  const { ports, task: named } = work
  return holdTask(ports, named, { verb: 'prune' }, async () => {
    const task = (await ports.store.findTaskByUid(named.uid)) ?? named
    if (!isOpen(task) || task.pending || task.state !== 'completed') return task
    const { branchKept: _, ...closed } = await closing({ ...work, task }, 'kept', { keepBranch: true })
    return (await perform({ ...work, task }, newOperation({ ports, task }, 'prune', closed))).task
  })
}

/** The task that the present command is about, which must not be rejected under its hands. */
export interface InHand {
  readonly dir: string
  readonly task?: string | undefined
  /** Without a name, the command means the task whose workspace `dir` is in. */
  readonly byFolder: boolean
}

/** Rejects the tasks of a repository that are due. */
export async function autoRevert(ports: Ports, inHand: InHand): Promise<void> {
  const now = ports.clock.now()
  // There is hardly ever one, and locating the repository takes longer than this query.
  const idling = (await ports.store.readIdling()).filter((tasks) => mayBeDue(tasks, now))
  if (idling.length === 0) return
  // Where there is no repository, the verb itself says so, or finds one by the record of an operation.
  const repo = await findRepo(ports, inHand.dir).then(
    (found) => found.repo,
    () => undefined,
  )
  if (!repo) return
  const due = new Map<string, Settings>()
  for (const tasks of idling.filter((candidates) => candidates.repo === repo.id)) {
    const settings = due.get(tasks.origin) ?? (await settingsOf(ports, tasks))
    if (dueTrigger(tasks, settings, now)) due.set(tasks.origin, settings)
  }
  if (due.size === 0) return
  for (const task of await ports.store.readTasks({ repo: repo.id, open: true })) {
    const settings = due.get(task.origin)
    if (!settings || isMeant(task, inHand)) continue
    const auto = findTrigger(task, settings, now)
    if (auto) await revert({ ports, repo, task }, settings, auto)
  }
}

function isMeant(task: Task, { dir, task: name, byFolder }: InHand): boolean {
  if (name !== undefined) return name === task.id
  return byFolder && isBelow(dir, task.path)
}
