/** Closes a task whose work does not land, as one operation: for reject, delete, remove and auto-revert. */
import type { Work } from '../tasks/work.ts'
import type { CommandCall } from '../model/command.ts'
import type { AutoRevert } from '../model/events.ts'
import { isOpen, type Task } from '../model/task.ts'
import { givingUp } from '../operations/close.ts'
import { perform } from '../operations/perform.ts'
import { takeStep } from '../steps/take.ts'
import { requireIdle, requireOpen, requireSettled } from '../tasks/guards.ts'
import { holdTask } from '../tasks/hold.ts'
import { requireOnBranch } from '../workspaces/recreate.ts'

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
}

export interface Rejected {
  readonly task: Task
  readonly operation: string
  readonly branchKept: boolean
}

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
  const { ports, task: named } = work
  let task = input.hide
    ? ((await ports.store.findTaskByUid(named.uid)) ?? named)
    : await requireOpen(ports, named)
  requireSettled(task)
  requireIdle(task)
  const there = isOpen(task) && (await ports.files.readKind(task.path)) === 'folder'
  if (there) {
    await requireOnBranch({ ...work, task })
    const note = { tool: 'sweep', summary: 'before the reject' }
    task = (await takeStep({ ...work, task }, note)).task
  }
  return close({ ...work, task }, input)
}

/** Performs the operation. The caller holds the task's lock. */
export async function close(
  work: Work,
  { keepBranch, hide, auto }: Pick<RejectInput, 'keepBranch' | 'hide' | 'auto'>,
): Promise<Rejected> {
  const { ports, task } = work
  const id = ports.ids.uid()
  const at = ports.clock.now().toISOString()
  const common = { id, verb: hide ? 'delete' : 'reject', task: task.uid, at, auto } as const
  const { branchKept, ...rest } = isOpen(task)
    ? await givingUp(work, 'rejected', { keepBranch, hidden: hide })
    : { branchKept: false, refs: [], record: { from: { hidden: false }, to: { hidden: true } } }
  return { task: await perform(work, { ...common, ...rest }), operation: id, branchKept }
}
