/** Holding the lock of a task: one process at a time writes to it. */
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

/** Holds the locks of those tasks that no other process is at work in, and leaves the others out. */
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
 * The settings of the checkout that the task was started in, never those of the workspace: the agent may have written
 * them. If the file is broken by now, the defaults count, so that a step can still be taken.
 */
export async function settingsOf(ports: Ports, { origin }: Pick<Task, 'origin'>): Promise<Settings> {
  return ports.settings.read(origin).catch(() => defaultSettings)
}
