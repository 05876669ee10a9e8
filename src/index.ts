/** The library: the same verbs as the command line, on a repository in hand. It never prints and never exits. */
import { call } from './api/call.ts'
import type { Emit } from './api/views.ts'
import { type ComposeOptions, compose } from './compose.ts'
import { AppError } from './core/errors.ts'
import { findTask, findTaskByPath, requireTask } from './core/list.ts'
import { type Notice, takeNotices } from './core/notices.ts'
import type { Ports } from './core/ports.ts'
import { type ActiveRun, withRun } from './core/run.ts'
import { isOpen, type TaskView, taskView } from './core/task.ts'
import { type Tools, type WrapOptions, type WrappedTools, wrapExecutor, wrapTools } from './core/wrap.ts'
import type { ActionName, Input, Output } from './protocol/actions.ts'

export { AppError, type ErrorCode } from './core/errors.ts'
export type {
  Agent,
  AgentEvent,
  AgentInput,
  Cell,
  SlashCommand,
  SlashFile,
  ToolCall,
  ToolKind,
  Verdict,
} from './core/agent.ts'
export type { Notice } from './core/notices.ts'
export type { TaskState, TaskView } from './core/task.ts'
export type { Tool, Tools, WrapOptions, WrappedTools } from './core/wrap.ts'

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
    find: (task: string, signal?: AbortSignal): Promise<TaskView | undefined> =>
      look(async () => view(await findTask(ports, repo, task)), signal),
    findByPath: (path: string, signal?: AbortSignal): Promise<TaskView | undefined> =>
      look(async () => view(await findTaskByPath(ports, path)), signal),
    /** Whether there is an open task of that id. */
    exists: (task: string, signal?: AbortSignal): Promise<boolean> =>
      look(async () => {
        const found = await findTask(ports, repo, task)
        return found !== undefined && isOpen(found)
      }, signal),
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
    compare: (input: Rest<'task.compare'>, signal?: AbortSignal) =>
      call(ports, 'task.compare', { repo, ...input }, signal),
    stop: (task: string, signal?: AbortSignal) => call(ports, 'task.stop', { repo, task }, signal),
    install: (input: Rest<'task.install'>, signal?: AbortSignal) =>
      call(ports, 'task.install', { repo, ...input }, signal),
    accept: (input: Rest<'task.accept'>, signal?: AbortSignal) =>
      call(ports, 'task.accept', { repo, ...input }, signal),
    update: (input: Rest<'task.update'>, signal?: AbortSignal) =>
      call(ports, 'task.update', { repo, ...input }, signal),
    reject: (input: Rest<'task.reject'>, signal?: AbortSignal) =>
      call(ports, 'task.reject', { repo, ...input }, signal),
    /** The same, and the record is hidden. */
    delete: (task: string, signal?: AbortSignal) => call(ports, 'task.delete', { repo, task }, signal),
    ops: async (signal?: AbortSignal) => (await call(ports, 'system.ops', { repo }, signal)).operations,
    undo: (operation?: string, signal?: AbortSignal) =>
      call(ports, 'system.undo', { repo, operation }, signal),
    /** One task; without a name, everything that doctor finds and that can be mended. */
    repair: (task?: string, signal?: AbortSignal) => call(ports, 'task.repair', { repo, task }, signal),
    /** Brings lost records back from the vaults, then repairs. */
    rebuild: (signal?: AbortSignal) => call(ports, 'task.repair', { repo, rebuild: true }, signal),
    remove: (input: Rest<'worktree.remove'>, signal?: AbortSignal): Promise<Output<'worktree.remove'>> =>
      call(ports, 'worktree.remove', { repo, ...input }, signal),
    prune: (input: Rest<'task.prune'> = {}, signal?: AbortSignal): Promise<Output<'task.prune'>> =>
      call(ports, 'task.prune', { repo, ...input }, signal),
    doctor: async (signal?: AbortSignal) => (await call(ports, 'system.doctor', { repo }, signal)).checks,
    /** What workspaces, vault, pool and trash cost, in bytes; of the workspaces all, or that of one task. */
    disk: (input: Rest<'system.disk'> = {}, signal?: AbortSignal): Promise<Output<'system.disk'>> =>
      call(ports, 'system.disk', { repo, ...input }, signal),
    recover: async (signal?: AbortSignal) => (await call(ports, 'system.recover', {}, signal)).recovered,
    /** What happened by itself since this was last asked, each told once. */
    notices: (signal?: AbortSignal): Promise<Notice[]> => look(() => takeNotices(ports, repo, ports), signal),
    /** Makes workspaces ahead until there are `pool.size`, and waits for them; otherwise that is done behind the scenes. */
    pool: (input: Rest<'system.pool'> = {}, signal?: AbortSignal): Promise<Output<'system.pool'>> =>
      call(ports, 'system.pool', { repo, ...input }, signal),
    audit: async (input: Omit<Rest<'system.audit'>, 'verify'> = {}, signal?: AbortSignal) =>
      (await call(ports, 'system.audit', { repo, ...input }, signal)).events ?? [],
    /** Whether the log is as it was written; of all repositories together. */
    verifyAudit: async (signal?: AbortSignal) =>
      (await call(ports, 'system.audit', { repo, verify: true }, signal)).verified,
    /** Lets the commands of the repository's own settings run, as they are now; with `show` only tells them. */
    trust: (input: Pick<Rest<'system.trust'>, 'show' | 'revoke'> = {}, signal?: AbortSignal) =>
      call(ports, 'system.trust', { repo, ...input }, signal),
    /** Writes what the repository tells other tools about setting a workspace up into its own settings. */
    importPeers: (
      input: Rest<'system.import'> = {},
      signal?: AbortSignal,
    ): Promise<Output<'system.import'>> => call(ports, 'system.import', { repo, ...input }, signal),
    agents: async (signal?: AbortSignal) => (await call(ports, 'system.agents', { repo }, signal)).agents,
    /** Closes every task of the repository into the trash; `repos` lists it no more, until the next start in it. */
    forget: (signal?: AbortSignal): Promise<Output<'system.forget'>> =>
      call(ports, 'system.forget', { repo }, signal),
    /** The verbs of one open task, and runs of an agent loop of your own. */
    task: (id: string) => openTask(ports, repo, id),
    close: () => ports.close(),
  }
}

/** A look into the records, which is over at once. */
async function look<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal?.aborted) throw new AppError('WT_021', 'Cancelled.', { cause: signal.reason })
  return work()
}

function openTask(ports: Ports, repo: string, id: string) {
  const named = { repo, task: id }
  return {
    show: async (signal?: AbortSignal): Promise<TaskView> =>
      (await call(ports, 'task.show', named, signal)).task,
    checkpoint: (input: Omit<Input<'task.checkpoint'>, 'repo' | 'task'> = {}, signal?: AbortSignal) =>
      call(ports, 'task.checkpoint', { ...named, ...input }, signal),
    log: async (signal?: AbortSignal) => (await call(ports, 'task.log', named, signal)).checkpoints,
    diff: (input: Omit<Input<'task.diff'>, 'repo' | 'task'> = {}, signal?: AbortSignal) =>
      call(ports, 'task.diff', { ...named, ...input }, signal),
    rewind: (to: number, signal?: AbortSignal) => call(ports, 'task.rewind', { ...named, to }, signal),
    accept: (input: Omit<Input<'task.accept'>, 'repo' | 'task'> = {}, signal?: AbortSignal) =>
      call(ports, 'task.accept', { ...named, ...input }, signal),
    update: (input: Omit<Input<'task.update'>, 'repo' | 'task'> = {}, signal?: AbortSignal) =>
      call(ports, 'task.update', { ...named, ...input }, signal),
    reject: (input: { keepBranch?: boolean } = {}, signal?: AbortSignal) =>
      call(ports, 'task.reject', { ...named, ...input }, signal),
    exec: (command: string[], signal?: AbortSignal, emit?: Emit) =>
      call(ports, 'task.run', { ...named, starts: false, command }, signal, emit),
    repair: (signal?: AbortSignal) => call(ports, 'task.repair', named, signal),
    remove: (input: { force?: boolean; keepBranch?: boolean } = {}, signal?: AbortSignal) =>
      call(ports, 'worktree.remove', { ...named, ...input }, signal),
    /**
     * Runs an agent loop of your own. Tools wrapped with `wrap` make a step per call; what is left at the end becomes
     * one too, and the steps are published. A loop that throws has failed, and its work is kept all the same.
     */
    async run<T>(agent: string, loop: (run: LoopRun) => Promise<T>, signal?: AbortSignal): Promise<T> {
      const found = await requireTask(ports, repo, id)
      const work = async (run: ActiveRun) => {
        const wrap = <W extends Tools>(tools: W, options?: WrapOptions) => wrapTools(run, tools, options)
        const wrapOne: LoopRun['wrapExecutor'] = (execute, options) => wrapExecutor(run, execute, options)
        const value = await loop({ id: run.id, workspace: run.task.path, wrap, wrapExecutor: wrapOne })
        return { value, reason: '', tool: 'sweep', summary: 'at the end of the run' }
      }
      return (await withRun(ports, found, agent, work, signal)).value
    },
  }
}

/** What an agent loop is handed. */
export interface LoopRun {
  readonly id: string
  /** The folder to work in. */
  readonly workspace: string
  readonly wrap: <T extends Tools>(tools: T, options?: WrapOptions) => WrappedTools<T>
  readonly wrapExecutor: <R>(
    execute: (tool: string, input: unknown) => R | Promise<R>,
    options?: WrapOptions,
  ) => (tool: string, input: unknown) => Promise<R>
}

export type OpenTask = ReturnType<typeof openTask>

export type OpenRepo = ReturnType<typeof openRepo>
