import type { CommandCall } from '../model/command.ts'
import type { AutoRevert } from '../model/events.ts'
import type { Repo } from '../model/repo.ts'
import { isOpen, type Task } from '../model/task.ts'
import { givingUp } from '../operations/close.ts'
import { perform } from '../operations/perform.ts'
import type { Ports } from '../ports/index.ts'
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
  ports: Ports,
  repo: Repo,
  named: Task,
  input: Omit<RejectInput, 'dir' | 'task' | 'onOutput'>,
  signal?: AbortSignal,
): Promise<Rejected> {
  return holdTask(ports, named, { verb: 'reject', signal }, () =>
    rejectHeld(ports, repo, named, input, signal),
  )
}

/** Whoever calls holds the task's lock. */
export async function rejectHeld(
  ports: Ports,
  repo: Repo,
  named: Task,
  input: Omit<RejectInput, 'dir' | 'task' | 'onOutput'>,
  signal?: AbortSignal,
): Promise<Rejected> {
  let task = input.hide
    ? ((await ports.store.findTaskByUid(named.uid)) ?? named)
    : await requireOpen(ports, named)
  requireSettled(task)
  requireIdle(task)
  const there = isOpen(task) && (await ports.files.readKind(task.path)) === 'folder'
  if (there) {
    await requireOnBranch(ports, repo, task)
    const note = { tool: 'sweep', summary: 'before the reject' }
    task = (await takeStep(ports, repo, task, note, undefined, signal)).task
  }
  return close(ports, repo, task, input)
}

/** As one operation. Whoever calls holds the task's lock. */
export async function close(
  ports: Ports,
  repo: Repo,
  task: Task,
  { keepBranch, hide, auto }: Pick<RejectInput, 'keepBranch' | 'hide' | 'auto'>,
): Promise<Rejected> {
  const id = ports.ids.uid()
  const at = ports.clock.now().toISOString()
  const common = { id, verb: hide ? 'delete' : 'reject', task: task.uid, at, auto } as const
  const { branchKept, ...rest } = isOpen(task)
    ? await givingUp(ports, repo, task, 'rejected', { keepBranch, hidden: hide })
    : { branchKept: false, refs: [], record: { from: { hidden: false }, to: { hidden: true } } }
  return { task: await perform(ports, repo, task, { ...common, ...rest }), operation: id, branchKept }
}
