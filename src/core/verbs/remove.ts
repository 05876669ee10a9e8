/** The verb remove: moves the workspace of a task into the trash and deletes its branch. */
import { counted } from '../base/counted.ts'
import path from 'node:path'
import type { Watch } from '../base/watch.ts'
import { askTaskHook } from '../hooks/hooks.ts'
import { landedState } from '../landing/landed.ts'
import type { CommandCall } from '../model/command.ts'
import { AppError } from '../model/errors.ts'
import type { Repo } from '../model/repo.ts'
import type { StepFile } from '../model/step.ts'
import { isOpen, type Task } from '../model/task.ts'
import { givingUp } from '../operations/close.ts'
import { newOperation } from '../operations/new.ts'
import { perform } from '../operations/perform.ts'
import type { Ports } from '../ports/index.ts'
import { stopTask } from '../runs/stop.ts'
import { withFound } from '../steps/with-task.ts'
import { findRepo } from '../tasks/repo.ts'

export interface RemoveInput {
  readonly dir: string
  /** One of the three names the task. */
  readonly task?: string | undefined
  readonly path?: string | undefined
  /** The workspace folder's name. */
  readonly name?: string | undefined
  readonly force?: boolean | undefined
  readonly keepBranch?: boolean | undefined
  /** Is called with the output of hooks. */
  readonly onOutput?: CommandCall['onOutput']
}

export interface Removed {
  readonly task: Task
  /** False if it had been removed before. */
  readonly removed: boolean
  /** The ignored files that went into the trash with it. */
  readonly ignored: readonly string[]
  readonly branchKept: boolean
  /** Whether its work was in the base branch. */
  readonly landed: boolean | null
  readonly operation: string | undefined
}

/** The task is closed; undo brings workspace, branch and registration back. */
export async function remove(
  ports: Ports,
  input: RemoveInput,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Removed> {
  requireOneName(input)
  const { repo } = await findRepo(ports, input.dir)
  const named = repo && (await findNamed(ports, repo, input))
  if (!repo || !named) throw notFound(input)
  if (isOpen(named)) await askTaskHook(ports, repo, named, 'preRemove', { onOutput: input.onOutput }, signal)
  if (input.force) await stopTask(ports, named, signal)
  const needs = { state: 'any', checks: ['idle', 'unmoved'] } as const
  return withFound({ ports, repo, task: named, signal, watch }, { verb: 'remove', needs }, async (work) => {
    const { task } = work
    if (!isOpen(task))
      return {
        task,
        removed: false,
        ignored: [],
        branchKept: task.state === 'kept',
        landed: null,
        operation: undefined,
      }
    const there = (await ports.files.readKind(task.path)) === 'folder'
    const ignored = there ? await ports.steps.readIgnored(repo, task, signal) : []
    if (there && !input.force) requireClean(task, await ports.steps.readDirt(repo, task, signal), ignored)
    const { landed } = await landedState(work)
    signal?.throwIfAborted()
    const state = input.keepBranch || task.adopted ? 'kept' : 'rejected'
    const { branchKept, ...closed } = await givingUp({ ports, repo, task }, state, {
      keepBranch: input.keepBranch,
    })
    const operation = newOperation(work, 'remove', closed)
    const { task: removed } = await perform(work, operation)
    return { task: removed, removed: true, ignored, branchKept, landed, operation: operation.id }
  })
}

async function findNamed(
  ports: Pick<Ports, 'files' | 'store'>,
  repo: Repo,
  input: RemoveInput,
): Promise<Task | undefined> {
  if (input.task !== undefined) return ports.store.findTask(repo.id, input.task)
  if (input.path !== undefined) {
    const real = await ports.files.readRealPath(path.resolve(input.dir, input.path))
    const found = await ports.store.findTaskByPath(real)
    // The path may belong to another repository, in which this command must not act.
    return found?.repo === repo.id ? found : undefined
  }
  const fits = (await ports.store.readTasks({ repo: repo.id })).filter(
    (task) => path.basename(task.path) === input.name || task.id === input.name,
  )
  return fits.find(isOpen) ?? fits[0]
}

function requireOneName({ task, path: folder, name }: RemoveInput): void {
  const names = [task, folder, name].filter((one) => one !== undefined)
  if (names.length === 1) return
  const many = names.length === 0 ? 'none' : 'several'
  throw new AppError(
    'wrongUsage',
    `One of task, path and name says which worktree to remove; found ${many}.`,
    {
      hint: 'offshoot worktree list shows the worktrees.',
    },
  )
}

function notFound(input: RemoveInput): AppError {
  if (input.task !== undefined)
    return new AppError('noSuchTask', `There is no task ${input.task} in this repository.`)
  const named = input.path ?? input.name
  return new AppError('notFound', `There is no workspace ${named} in this repository.`, {
    path: input.path,
    hint: 'offshoot list --all shows every workspace.',
  })
}

function requireClean(task: Task, dirt: readonly StepFile[], ignored: readonly string[]): void {
  if (dirt.length === 0) return
  const count = counted(dirt.length, 'file')
  throw new AppError(
    'uncommittedChanges',
    `The workspace of ${task.id} has ${count} that no commit and no step holds.`,
    {
      path: task.path,
      hint: `offshoot checkpoint ${task.id} keeps them; with --force the folder goes into the trash as it is.`,
      data: { changed: dirt.map((file) => file.path), ignored },
    },
  )
}
