/** Alone with a task: one writer at a time, across processes. */
import { appError } from '../model/errors.ts'
import { defaultSettings, type Settings } from '../model/settings.ts'
import { type Task, taskLock } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import type { LockOptions } from '../ports/locks.ts'

export async function holdTask<T>(
  ports: Ports,
  task: Task,
  options: Omit<LockOptions, 'waitMs'>,
  work: () => Promise<T>,
): Promise<T> {
  const waitMs = (await settingsOf(ports, task)).lock.waitSeconds * 1000
  return ports.locks.hold(taskLock(task.repo, task.id), { ...options, waitMs }, work)
}

/** Alone with those of the tasks that nobody else is at work in. */
export function holdFree<T>(
  ports: Ports,
  tasks: readonly Task[],
  options: Omit<LockOptions, 'waitMs'>,
  work: (free: readonly Task[]) => Promise<T>,
): Promise<T> {
  const free: Task[] = []
  // Tasks of one id, all but one of them closed, have one lock.
  const byLock = new Map<string, Task[]>()
  for (const task of tasks) {
    const lock = taskLock(task.repo, task.id)
    byLock.set(lock, [...(byLock.get(lock) ?? []), task])
  }
  const next = async ([first, ...rest]: readonly [string, Task[]][]): Promise<T> => {
    if (!first) return work(free)
    const [lock, held] = first
    let isHeld = false
    try {
      return await ports.locks.hold(lock, { ...options, waitMs: 0 }, () => {
        isHeld = true
        free.push(...held)
        return next(rest)
      })
    } catch (thrown) {
      if (isHeld || appError(thrown).problem !== 'locked') throw thrown
      return next(rest)
    }
  }
  return next([...byLock])
}

/**
 * The settings of the checkout that the task was started in: a file in the workspace is the agent's, and a file that
 * is broken by now must not keep a step from being taken.
 */
export async function settingsOf(ports: Ports, { origin }: Pick<Task, 'origin'>): Promise<Settings> {
  return ports.settings.read(origin).catch(() => defaultSettings)
}
