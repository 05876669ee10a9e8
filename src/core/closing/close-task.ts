/** Closes a task whose work does not land, as one operation: for reject, delete, remove and auto-revert. */
import type { CommandCall } from '../model/command.ts'
import type { AutoRevert } from '../model/events.ts'
import type { SkippedPath } from '../model/step.ts'
import { isOpen, type Task } from '../model/task.ts'
import { givingUp } from '../operations/close.ts'
import { newOperation } from '../operations/new.ts'
import { perform } from '../operations/perform.ts'
import { requireNeeds } from '../steps/with-task.ts'
import { holdTask } from '../tasks/hold.ts'
import type { Work } from '../tasks/work.ts'

export interface RejectInput {
  readonly dir: string
  readonly task?: string | undefined
  readonly keepBranch?: boolean | undefined
  /** Also hides the record. */
  readonly hide?: boolean | undefined
  /** Is called with the output of hooks. */
  readonly onOutput?: CommandCall['onOutput']
  /** Why auto-revert does it; undefined when a user asked. */
  readonly auto?: AutoRevert | undefined
  /** The accept that it belongs to: an undo takes both back. */
  readonly batch?: string | undefined
}

export interface Rejected {
  readonly task: Task
  readonly operation: string
  readonly branchKept: boolean
  /** The files that no step holds. They are in the trash with their folder. */
  readonly skipped?: readonly SkippedPath[] | undefined
  /** The files of the checkout that somebody changed meanwhile: these were not brought back. */
  readonly left?: readonly string[] | undefined
  /** Why there is no step of the last changes, which are only in the trash. */
  readonly unkept?: string | undefined
}

/** Gives the task up; with `hide`, also one that is closed already. */
export function rejectTask(
  work: Work,
  input: Omit<RejectInput, 'dir' | 'task' | 'onOutput'>,
): Promise<Rejected> {
  const { ports, task: named, signal } = work
  return holdTask(ports, named, { verb: 'reject', signal }, () => rejectHeld(work, input))
}

/** The caller holds the task's lock. */
export async function rejectHeld(
  work: Work,
  input: Omit<RejectInput, 'dir' | 'task' | 'onOutput'>,
): Promise<Rejected> {
  const state = input.hide ? 'any' : 'open'
  // On a shadow branch no folder moves into the trash: without a step the files would be lost.
  const sweepMayFail = work.task.isolation !== 'branch'
  const sweep = { sweep: 'before the reject', sweepMayFail }
  const begun = await requireNeeds(work, { state, checks: ['idle', 'onBranch'], ...sweep })
  const { skipped, unkept } = begun
  return { ...(await close(begun, input)), ...(skipped.length > 0 && { skipped }), unkept }
}

/** Performs the operation. The caller holds the task's lock. */
export async function close(
  work: Work,
  { keepBranch, hide, auto, batch }: Pick<RejectInput, 'keepBranch' | 'hide' | 'auto' | 'batch'>,
): Promise<Rejected> {
  const { task } = work
  const { branchKept, ...rest } = isOpen(task)
    ? await givingUp(work, 'rejected', { keepBranch, hidden: hide })
    : { branchKept: false, refs: [], record: { from: { hidden: false }, to: { hidden: true } } }
  const operation = newOperation(work, hide ? 'delete' : 'reject', { auto, batch, ...rest })
  const { task: closed, left } = await perform(work, operation)
  return { task: closed, operation: operation.id, branchKept, ...(left.length > 0 && { left }) }
}
