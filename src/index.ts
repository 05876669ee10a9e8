/** The library: the same verbs as the command line, on a repository in hand. It never prints and never exits. */
import { call, type Emit } from './api/handlers.ts'
import { type ComposeOptions, compose } from './compose.ts'
import { findTask, findTaskByPath } from './core/list.ts'
import { isOpen, type TaskView, taskView } from './core/task.ts'
import type { ActionName, Input, Output } from './protocol/actions.ts'

export { AppError, type ErrorCode } from './core/errors.ts'
export type { TaskState, TaskView } from './core/task.ts'

type Rest<A extends ActionName> = Omit<Input<A>, 'repo'>

/** The repository that `dir` is in. Opening reads nothing; the first verb does. */
export function openRepo(dir: string, options: ComposeOptions = {}) {
  const ports = compose(options)
  const repo = dir
  const view = (task: Parameters<typeof taskView>[0] | undefined) => task && taskView(task)
  return {
    start: (input: Rest<'task.start'> = {}, signal?: AbortSignal) =>
      call(ports, 'task.start', { repo, ...input }, signal),
    list: async (input: Rest<'task.list'> = {}, signal?: AbortSignal): Promise<TaskView[]> =>
      (await call(ports, 'task.list', { repo, ...input }, signal)).tasks,
    /** With a look at the workspace; throws WT_007 when there is no such task. */
    show: async (task: string, signal?: AbortSignal): Promise<TaskView> =>
      (await call(ports, 'task.show', { repo, task }, signal)).task,
    /** As of its last event, without spawning anything; undefined when there is no such task. */
    find: async (task: string): Promise<TaskView | undefined> => view(await findTask(ports, repo, task)),
    findByPath: async (path: string): Promise<TaskView | undefined> => view(findTaskByPath(ports, path)),
    /** Whether there is an open task of that id. */
    exists: async (task: string): Promise<boolean> => {
      const found = await findTask(ports, repo, task)
      return found !== undefined && isOpen(found)
    },
    checkpoint: (input: Rest<'task.checkpoint'>, signal?: AbortSignal) =>
      call(ports, 'task.checkpoint', { repo, ...input }, signal),
    log: async (task: string, signal?: AbortSignal) =>
      (await call(ports, 'task.log', { repo, task }, signal)).checkpoints,
    diff: (input: Rest<'task.diff'>, signal?: AbortSignal) =>
      call(ports, 'task.diff', { repo, ...input }, signal),
    rewind: (input: Rest<'task.rewind'>, signal?: AbortSignal) =>
      call(ports, 'task.rewind', { repo, ...input }, signal),
    run: (input: Rest<'task.run'>, signal?: AbortSignal, emit?: Emit) =>
      call(ports, 'task.run', { repo, ...input }, signal, emit),
    repair: (task: string, signal?: AbortSignal) => call(ports, 'task.repair', { repo, task }, signal),
    remove: (input: Rest<'worktree.remove'>, signal?: AbortSignal): Promise<Output<'worktree.remove'>> =>
      call(ports, 'worktree.remove', { repo, ...input }, signal),
    prune: (input: Rest<'worktree.prune'> = {}, signal?: AbortSignal): Promise<Output<'worktree.prune'>> =>
      call(ports, 'worktree.prune', { repo, ...input }, signal),
    doctor: async (signal?: AbortSignal) => (await call(ports, 'system.doctor', { repo }, signal)).checks,
    recover: async (signal?: AbortSignal) => (await call(ports, 'system.recover', {}, signal)).recovered,
    close: () => ports.close(),
  }
}

export type OpenRepo = ReturnType<typeof openRepo>
