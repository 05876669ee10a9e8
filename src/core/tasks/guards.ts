/** Checks that no run and no unfinished verb is in the way. The caller holds the task's lock. */
import { quoted } from '../base/shell-quote.ts'
import { AppError } from '../model/errors.ts'
import type { Settings } from '../model/settings.ts'
import { atWork, isOpen, type RunMark, runsOf, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { whyUnended } from './liveness.ts'

/** Throws during a run: the work of an agent cannot land, be removed or be changed while the agent still writes. */
export function requireIdle(task: Task, orElse = ''): void {
  if (runsOf(task).length > 0) throw busyWith(task, runsOf(task), orElse)
}

/** The error that names what is at work in a task. */
export function busyWith({ id, path }: Task, runs: readonly RunMark[], orElse = ''): AppError {
  const { who, are } = atWork(runs)
  const it = are === 'is' ? 'it' : 'them'
  return new AppError('locked', `${who} ${are} at work in ${id}.`, {
    path,
    hint: `Wait for ${it}, or end ${it}: offshoot stop ${id}.${orElse}`,
    data: { task: id, atWork: runs.flatMap(({ name }) => name ?? []) },
  })
}

/**
 * Throws when the task is marked as mid-verb. We hold its lock, so that process is dead; a new verb would overwrite the
 * mark, and recovery would never see it.
 */
export function requireSettled({ id, path, pending }: Task): void {
  if (!pending || pending.verb === 'run') return
  throw new AppError('locked', `The task ${id} is half-done: ${whyUnended(pending)}.`, {
    path,
    hint: 'offshoot recover finishes it or rolls it back, or says why it cannot.',
  })
}

/** The present record of the task; throws when the task has been closed, or is in the middle of a verb. */
export async function requireOpen(ports: Pick<Ports, 'store'>, named: Task): Promise<Task> {
  const task = await ports.store.findTaskByUid(named.uid)
  if (task && isOpen(task)) {
    requireSettled(task)
    return task
  }
  throw await closedError(ports, task ?? named)
}

/** The error for a closed task: when and by which operation it was closed, and how to get at its work. */
async function closedError({ store }: Pick<Ports, 'store'>, task: Task): Promise<AppError> {
  const { id, uid, branch, state, closedAt, expiry } = task
  const events = await store.readEvents({ uid, types: ['operation.begun', 'operation.done'] })
  const closing = events.findLast(
    ({ event }) => event.type === 'operation.done' && event.patch.closedAt,
  )?.event
  const operation = closing?.type === 'operation.done' ? closing.id : undefined
  const begun = events.find(({ event }) => event.type === 'operation.begun' && event.id === operation)?.event
  const isFinal = expiry !== undefined || (begun?.type === 'operation.begun' && begun.final !== undefined)
  const short = operation?.slice(0, 6)
  const how = state === 'kept' ? 'its branch was kept' : `it was ${state}`
  const when = closedAt === undefined ? '' : ` on ${closedAt.slice(0, 10)} at ${closedAt.slice(11, 16)} UTC`
  const by = short === undefined ? '' : `, by operation ${short}`
  const hints = [
    ...(state === 'kept' ? [`Its work is on ${branch}: git merge ${quoted(branch)} lands it.`] : []),
    ...(short !== undefined && !isFinal ? [`offshoot undo ${short} opens it again.`] : []),
  ]
  return new AppError('noSuchTask', `The task ${id} is closed: ${how}${when}${by}.`, {
    hint: hints.length > 0 ? hints.join(' ') : 'offshoot list shows the open tasks.',
    data: { uid },
  })
}

/** The hint where another open task is in the way. */
export function closeHint(id: string): string {
  return `Close that one first: offshoot reject ${id}, or offshoot accept ${id}. Then repeat.`
}

/** Throws where the settings switch offshoot off. */
export function requireEnabled({ enabled }: Pick<Settings, 'enabled'>): void {
  if (!enabled) throw switchedOff('')
}

/** The error where offshoot is switched off; `orElse` names another way. */
export function switchedOff(orElse: string): AppError {
  return new AppError('policyRefused', 'offshoot is switched off here.', {
    hint: `Unset OFFSHOOT_DISABLED, or set enabled: true.${orElse}`,
    data: { switchedOff: true },
  })
}
