import type { Work } from '../tasks/work.ts'
import type { CommandCall } from '../model/command.ts'
import type { AutoRevert } from '../model/events.ts'
import { isOpen, type Task } from '../model/task.ts'
import { givingUp } from '../operations/close.ts'
import { newOperation } from '../operations/new.ts'
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
  /** Takes what a hook says. */
  readonly onOutput?: CommandCall['onOutput']
  /** Nobody asked for it: what brought it about. */
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

/** Whoever calls holds the task's lock. */
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

/** As one operation. Whoever calls holds the task's lock. */
export async function close(
  work: Work,
  { keepBranch, hide, auto }: Pick<RejectInput, 'keepBranch' | 'hide' | 'auto'>,
): Promise<Rejected> {
  const { task } = work
  const { branchKept, ...rest } = isOpen(task)
    ? await givingUp(work, 'rejected', { keepBranch, hidden: hide })
    : { branchKept: false, refs: [], record: { from: { hidden: false }, to: { hidden: true } } }
  const operation = newOperation(work, hide ? 'delete' : 'reject', { auto, ...rest })
  return { task: await perform(work, operation), operation: operation.id, branchKept }
}
