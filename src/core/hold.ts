/** Alone with a task: one writer at a time, across processes. */
import type { LockOptions, Ports } from './ports.ts'
import { defaultSettings, type Settings } from './settings.ts'
import { type Task, taskLock } from './task.ts'

export async function holdTask<T>(
  ports: Ports,
  task: Task,
  options: Omit<LockOptions, 'waitMs'>,
  work: () => Promise<T>,
): Promise<T> {
  const waitMs = (await settingsOf(ports, task)).lock.waitSeconds * 1000
  return ports.locks.hold(taskLock(task.repo, task.id), { ...options, waitMs }, work)
}

/**
 * The settings of the checkout that the task was started in: a file in the workspace is the agent's, and a file that
 * is broken by now must not keep a step from being taken.
 */
export async function settingsOf(ports: Ports, { origin }: Task): Promise<Settings> {
  return ports.settings.read(origin).catch(() => defaultSettings)
}
