/** Work on many tasks, in which the failure of one does not stop the rest. */
import { type AppError, appError } from '../model/errors.ts'
import type { Task } from '../model/task.ts'

export interface Failed {
  readonly task: Task
  readonly error: AppError
}

/** Runs `work` for these tasks, and adds a failure to `failed` instead of throwing it; a cancellation is thrown. */
export async function apart(
  tasks: readonly Task[],
  failed: Failed[],
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    const error = appError(thrown)
    if (error.kind === 'cancelled') throw error
    failed.push(...tasks.map((task) => ({ task, error })))
  }
}
