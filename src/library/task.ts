/** One task as the library shows it: its verbs, and `run` for an agent loop of the caller's own. */
import { requireTask } from '../core/tasks/find.ts'
import { recoverMeanwhile } from '../core/recovery/periodic.ts'
import type { Ports } from '../core/ports/index.ts'
import { type ActiveRun, withRun } from '../core/runs/run.ts'
import type { TaskView } from '../core/model/task-view.ts'
import {
  type Tools,
  type WrapOptions,
  type WrappedTools,
  wrapExecutor,
  wrapTools,
} from '../core/runs/wrap.ts'
import type { CheckedCall } from './checked.ts'
import type * as T from './types.ts'

export interface OpenTask {
  show(options?: T.CallOptions): Promise<TaskView>
  checkpoint(input?: T.TaskCheckpointInput, options?: T.CallOptions): Promise<T.CheckpointAnswer>
  log(options?: T.CallOptions): Promise<readonly T.StepView[]>
  diff(input?: T.TaskDiffInput, options?: T.CallOptions): Promise<T.DiffAnswer>
  rewind(to: number, options?: T.CallOptions): Promise<T.RewindAnswer>
  accept(input?: T.TaskAcceptInput, options?: T.CallOptions): Promise<T.AcceptAnswer>
  update(input?: T.TaskUpdateInput, options?: T.CallOptions): Promise<T.UpdateAnswer>
  reject(input?: T.TaskRejectInput, options?: T.CallOptions): Promise<T.RejectAnswer>
  exec(command: readonly string[], options?: T.CallOptions): Promise<T.RunAnswer>
  repair(options?: T.CallOptions): Promise<T.RepairAnswer>
  remove(input?: T.TaskRemoveInput, options?: T.CallOptions): Promise<T.RemoveAnswer>
  /**
   * Runs an agent loop of your own. Tools wrapped with `wrap` make a step per call. Changes that are left at the end
   * become one more step, and the steps are published. If the loop throws, the run has failed; its work is kept.
   */
  run<R>(
    agent: string,
    loop: (run: LoopRun) => Promise<R>,
    options?: Pick<T.CallOptions, 'signal'>,
  ): Promise<R>
}

/** The argument of an agent loop. */
export interface LoopRun {
  readonly id: string
  /** The folder to work in. */
  readonly workspace: string
  readonly wrap: <W extends Tools>(tools: W, options?: WrapOptions) => WrappedTools<W>
  readonly wrapExecutor: <R>(
    execute: (tool: string, input: unknown) => R | Promise<R>,
    options?: WrapOptions,
  ) => (tool: string, input: unknown) => Promise<R>
}

export function openTask(ports: Ports, call: CheckedCall, repo: string, id: string): OpenTask {
  const named = { repo, task: id }
  return {
    show: async (options) => (await call('task.show', named, options)).task,
    checkpoint: (input = {}, options) => call('task.checkpoint', { ...named, ...input }, options),
    log: async (options) => (await call('task.log', named, options)).checkpoints,
    diff: (input = {}, options) => call('task.diff', { ...named, ...input }, options),
    rewind: (to, options) => call('task.rewind', { ...named, to }, options),
    accept: (input = {}, options) => call('task.accept', { ...named, ...input }, options),
    update: (input = {}, options) => call('task.update', { ...named, ...input }, options),
    reject: (input = {}, options) => call('task.reject', { ...named, ...input }, options),
    exec: (command, options) => call('task.run', { ...named, create: false, command }, options),
    repair: (options) => call('task.repair', named, options),
    remove: (input = {}, options) => call('worktree.remove', { ...named, ...input }, options),
    async run(agent, loop, { signal } = {}) {
      const found = await requireTask(ports, repo, id)
      const work = async (run: ActiveRun) => {
        const value = await loop({
          id: run.id,
          workspace: run.task.path,
          wrap: (tools, options) => wrapTools(run, tools, options),
          wrapExecutor: (execute, options) => wrapExecutor(run, execute, options),
        })
        return { value, reason: '', tool: 'sweep', summary: 'at the end of the run' }
      }
      return (await withRun(ports, found, agent, work, { meanwhile: recoverMeanwhile, signal })).value
    },
  }
}
