import { requireOpen, takeStep } from './checkpoint.ts'
import { givingUp } from './cleanup.ts'
import { AppError } from './errors.ts'
import { holdTask } from './hold.ts'
import { requireTask } from './list.ts'
import { perform } from './operation.ts'
import type { Ports } from './ports.ts'
import { isOpen, type Task } from './task.ts'

export interface RejectInput {
  readonly dir: string
  readonly task?: string | undefined
  readonly keepBranch?: boolean | undefined
  /** Also hides the record. */
  readonly hide?: boolean | undefined
}

export interface Rejected {
  readonly task: Task
  readonly operation: string
  readonly branchKept: boolean
}

/** Gives the work up: its last state is a step, its folder goes into the trash, its branch away. All of it can come back. */
export async function reject(ports: Ports, input: RejectInput, signal?: AbortSignal): Promise<Rejected> {
  const { repo, task: named } = await requireTask(ports, input.dir, input.task)
  return holdTask(ports, named, { verb: 'reject', signal }, async () => {
    let task = input.hide ? (ports.store.findTaskByUid(named.uid) ?? named) : requireOpen(ports, named)
    if (task.pending?.verb === 'run') {
      throw new AppError('WT_012', `An agent is at work in ${task.id}.`, { hint: 'Stop it first.' })
    }
    const open = isOpen(task)
    const there = open && (await ports.files.readKind(task.path)) === 'folder'
    if (there)
      task = (
        await takeStep(ports, repo, task, { tool: 'sweep', summary: 'before the reject' }, undefined, signal)
      ).task
    const id = ports.ids.uid()
    const common = {
      id,
      verb: input.hide ? 'delete' : 'reject',
      task: task.uid,
      at: ports.clock.now().toISOString(),
    } as const
    const { branchKept, ...rest } = open
      ? await givingUp(ports, repo, task, 'rejected', { keepBranch: input.keepBranch, hidden: input.hide })
      : { branchKept: false, refs: [], record: { from: { hidden: false }, to: { hidden: true } } }
    return { task: await perform(ports, repo, task, { ...common, ...rest }), operation: id, branchKept }
  })
}
