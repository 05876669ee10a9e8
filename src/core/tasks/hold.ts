/** Holds the lock of a task, so that it has one writer at a time across processes. */
import { AppError, appError } from '../model/errors.ts'
import { defaultSettings, type Settings } from '../model/settings.ts'
import { type Task, taskLock } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import type { LockOptions } from '../ports/locks.ts'

export async function holdTask<T>(
  ports: Pick<Ports, 'locks' | 'settings'>,
  task: Task,
  options: Omit<LockOptions, 'waitMs'>,
  work: () => Promise<T>,
): Promise<T> {
  const waitMs = (await settingsOf(ports, task)).lock.waitSeconds * 1000
  const lock = taskLock(task.repo, task.id)
  return ports.locks.hold(lock, { ...options, waitMs }, work).catch((thrown: unknown) => {
    const { problem, data } = appError(thrown)
    const isOurs = problem === 'locked' && data && 'lock' in data && data.lock === lock
    throw isOurs ? busyTask(task, data, thrown) : thrown
  })
}

/** Names the task and the verb instead of the lock. */
function busyTask(
  { id, path }: Task,
  data: { readonly lock: string; readonly holder: unknown },
  cause: unknown,
): AppError {
  const holder = data.holder as { readonly verb: string; readonly pid: number } | undefined
  const who = holder ? `\`${holder.verb}\` (process ${holder.pid})` : 'Another command'
  return new AppError('locked', `${who} is at work on ${id}.`, {
    path,
    hint: 'Wait for it to end, then repeat; lock.waitSeconds is how long a command waits by itself.',
    data,
    cause,
  })
}

/** Runs `work` with the locks of those tasks that no other process holds. */
export function holdFree<T>(
  ports: Pick<Ports, 'locks'>,
  tasks: readonly Task[],
  options: Omit<LockOptions, 'waitMs'>,
  work: (free: readonly Task[]) => Promise<T>,
): Promise<T> {
  const free: Task[] = []
  // Tasks with the same id, of which at most one is open, share a lock.
  const byLock = new Map<string, Task[]>()
  for (const task of tasks) {
    const lock = taskLock(task.repo, task.id)
    byLock.set(lock, [...(byLock.get(lock) ?? []), task])
  }
  const next = async ([first, ...rest]: readonly [string, Task[]][]): Promise<T> => {
    if (!first) return work(free)
    const [lock, named] = first
    const done = await ports.locks.tryHold(lock, options, () => {
      free.push(...named)
      return next(rest)
    })
    return done === 'busy' ? next(rest) : done.value
  }
  return next([...byLock])
}

/**
 * The settings of the checkout that the task was started in, because the agent can write a settings file in the workspace.
 * A broken file must not keep a step from being taken: the repository's counts as empty, the user's as the defaults.
 */
export async function settingsOf(
  ports: Pick<Ports, 'settings'>,
  { origin }: Pick<Task, 'origin'>,
): Promise<Settings> {
  const users = () => ports.settings.read(null).catch(() => defaultSettings)
  return ports.settings.read(origin).catch(users)
}
