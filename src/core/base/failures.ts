/** What fails for one task does not stop the rest. */
import { type AppError, appError } from '../model/errors.ts'
import type { Task } from '../model/task.ts'

export interface Failed {
  readonly task: Task
  readonly error: AppError
}

/** Does some work for these tasks, and notes it should it fail. What was cancelled comes to an end. */
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
