/** Steps that the records count and the vault lacks. */
import { AppError } from '../../core/model/errors.ts'
import type { Task } from '../../core/model/task.ts'

/** The vault rightly has no steps of an expired task. */
export function hasSteps({ checkpoints, expiry }: Task): boolean {
  return checkpoints > 0 && expiry === undefined
}

export function stepsLost({ id, checkpoints }: Task): AppError {
  return new AppError('stepsLost', `The vault lacks the steps of ${id}; the records count ${checkpoints}.`, {
    hint: `offshoot repair ${id} brings them back, if the vault still has them.`,
  })
}
