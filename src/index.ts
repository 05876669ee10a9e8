/** The library: the verbs of the command line as functions. It never prints and never exits the process. */
import type { ActionName } from './actions/index.ts'
import { type Call, openDoor } from './api/call.ts'
import { callerOf } from './api/caller.ts'
import type { Emit } from './api/views.ts'
import { type ComposeOptions, compose } from './compose/full.ts'
import { requireTask } from './core/tasks/find.ts'
import { recoverMeanwhile } from './core/recovery/periodic.ts'
import type { Notice } from './core/model/notice.ts'
import type { Ports } from './core/ports/index.ts'
import { type ActiveRun, withRun } from './core/runs/run.ts'
import type { TaskView } from './core/model/task-view.ts'
import { type Tools, type WrapOptions, type WrappedTools, wrapExecutor, wrapTools } from './core/runs/wrap.ts'
import type { Input, Output } from './protocol/schemas/index.ts'

export { AppError, type ErrorCode } from './core/model/errors.ts'
export type { Agent } from './core/ports/agent.ts'
export type {
  AgentEvent,
  AgentInput,
  SlashCommand,
  SlashFile,
  ToolCall,
  ToolKind,
  Permission,
} from './core/model/agent.ts'
export type { Cell } from './core/ports/sandbox.ts'
export type { Notice } from './core/model/notice.ts'
export type { Said, Told } from './protocol/events.ts'
export type { TaskState } from './core/model/enums.ts'
export type { TaskView } from './core/model/task-view.ts'
export type { Tool, Tools, WrapOptions, WrappedTools } from './core/runs/wrap.ts'

type Rest<A extends ActionName> = Omit<Input<A>, 'repo'>

/** Opens the repository that holds `dir`. Opening reads nothing; the first verb does. */
export function openRepo(dir: string, options: ComposeOptions = {}) {
  const ports = compose({ named: dir, ...options })
  const repo = dir
  const call = openDoor(ports, () => callerOf(ports.processes.findRun()))
  return {
    start: (input: Rest<'task.start'> = {}, signal?: AbortSignal) =>
      call('task.start', { repo, ...input }, signal),
    list: async (input: Rest<'task.list'> = {}, signal?: AbortSignal): Promise<readonly TaskView[]> =>
      (await call('task.list', { repo, ...input }, signal)).tasks,
    /** Reads the workspace too. Throws `noSuchTask` when there is no such task. */
    show: async (task: string, signal?: AbortSignal): Promise<TaskView> =>
      (await call('task.show', { repo, task }, signal)).task,
    /** The task as of its last event, without starting a process; undefined when there is no such task. */
    find: async (task: string, signal?: AbortSignal): Promise<TaskView | undefined> =>
      (await call('task.find', { repo, task }, signal)).task ?? undefined,
    findByPath: async (path: string, signal?: AbortSignal): Promise<TaskView | undefined> =>
      (await call('task.find', { repo, path }, signal)).task ?? undefined,
    /** Whether there is an open task of that id. */
    exists: async (task: string, signal?: AbortSignal): Promise<boolean> =>
      (await call('task.exists', { repo, task }, signal)).exists,
    checkpoint: (input: Rest<'task.checkpoint'>, signal?: AbortSignal) =>
      call('task.checkpoint', { repo, ...input }, signal),
    log: async (task: string, signal?: AbortSignal) =>
      (await call('task.log', { repo, task }, signal)).checkpoints,
    diff: (input: Rest<'task.diff'>, signal?: AbortSignal) => call('task.diff', { repo, ...input }, signal),
    rewind: (input: Rest<'task.rewind'>, signal?: AbortSignal) =>
      call('task.rewind', { repo, ...input }, signal),
    run: (input: Rest<'task.run'>, signal?: AbortSignal, emit?: Emit) =>
      call('task.run', { repo, ...input }, signal, emit),
    compare: (input: Rest<'task.compare'>, signal?: AbortSignal) =>
      call('task.compare', { repo, ...input }, signal),
    stop: (task: string, signal?: AbortSignal) => call('task.stop', { repo, task }, signal),
    install: (input: Rest<'task.install'>, signal?: AbortSignal) =>
      call('task.install', { repo, ...input }, signal),
    accept: (input: Rest<'task.accept'>, signal?: AbortSignal) =>
      call('task.accept', { repo, ...input }, signal),
    update: (input: Rest<'task.update'>, signal?: AbortSignal) =>
      call('task.update', { repo, ...input }, signal),
    reject: (input: Rest<'task.reject'>, signal?: AbortSignal) =>
      call('task.reject', { repo, ...input }, signal),
    /** Rejects the task and hides its record. */
    delete: (task: string, signal?: AbortSignal) => call('task.delete', { repo, task }, signal),
    ops: async (signal?: AbortSignal) => (await call('system.ops', { repo }, signal)).operations,
    undo: (operation?: string, signal?: AbortSignal) => call('system.undo', { repo, operation }, signal),
    /** Repairs one task; without a name, everything that doctor finds and that can be repaired. */
    repair: (task?: string, signal?: AbortSignal) => call('task.repair', { repo, task }, signal),
    /** Rebuilds lost records from the vaults, then repairs. */
    rebuild: (signal?: AbortSignal) => call('task.repair', { repo, rebuild: true }, signal),
    remove: (input: Rest<'worktree.remove'>, signal?: AbortSignal): Promise<Output<'worktree.remove'>> =>
      call('worktree.remove', { repo, ...input }, signal),
    prune: (input: Rest<'task.prune'> = {}, signal?: AbortSignal): Promise<Output<'task.prune'>> =>
      call('task.prune', { repo, ...input }, signal),
    doctor: async (signal?: AbortSignal) => (await call('system.doctor', { repo }, signal)).checks,
    /** The size of workspaces, vault, pool and trash in bytes; of all workspaces, or of one task's. */
    disk: (input: Rest<'system.disk'> = {}, signal?: AbortSignal): Promise<Output<'system.disk'>> =>
      call('system.disk', { repo, ...input }, signal),
    recover: async (signal?: AbortSignal) => (await call('system.recover', {}, signal)).recovered,
    /** The notices since the last call; each is returned once. */
    notices: async (signal?: AbortSignal): Promise<readonly Notice[]> =>
      (await call('system.notices', { repo }, signal)).notices,
    /** Makes workspaces ahead until there are `pool.size`, and waits for them. Without this call a background process does it. */
    pool: (input: Rest<'system.pool'> = {}, signal?: AbortSignal): Promise<Output<'system.pool'>> =>
      call('system.pool', { repo, ...input }, signal),
    audit: async (input: Omit<Rest<'system.audit'>, 'verify'> = {}, signal?: AbortSignal) =>
      (await call('system.audit', { repo, ...input }, signal)).events ?? [],
    /** Verifies the log of all repositories: its flaws, none if every entry is as it was written. */
    verifyAudit: async (signal?: AbortSignal) =>
      (await call('system.audit', { repo, verify: true }, signal)).verified,
    /** Trusts the repository's own settings as they are now; with `show`, only returns what there is to trust. */
    trust: (
      input: Pick<Rest<'system.trust'>, 'show' | 'revoke' | 'fingerprint'> = {},
      signal?: AbortSignal,
    ) => call('system.trust', { repo, ...input }, signal),
    /** Imports the workspace setup for other tools into `.offshoot.yaml`. */
    importPeers: (
      input: Rest<'system.import'> = {},
      signal?: AbortSignal,
    ): Promise<Output<'system.import'>> => call('system.import', { repo, ...input }, signal),
    agents: async (signal?: AbortSignal) => (await call('system.agents', { repo }, signal)).agents,
    /** Moves every task of the repository into the trash. `repos` lists it again after the next start in it. */
    forget: (signal?: AbortSignal): Promise<Output<'system.forget'>> =>
      call('system.forget', { repo }, signal),
    /** The verbs of one open task, and `run` for an agent loop of your own. */
    task: (id: string) => openTask(ports, call, repo, id),
    close: () => ports.close(),
  }
}

function openTask(ports: Ports, call: Call, repo: string, id: string) {
  const named = { repo, task: id }
  return {
    show: async (signal?: AbortSignal): Promise<TaskView> => (await call('task.show', named, signal)).task,
    checkpoint: (input: Omit<Input<'task.checkpoint'>, 'repo' | 'task'> = {}, signal?: AbortSignal) =>
      call('task.checkpoint', { ...named, ...input }, signal),
    log: async (signal?: AbortSignal) => (await call('task.log', named, signal)).checkpoints,
    diff: (input: Omit<Input<'task.diff'>, 'repo' | 'task'> = {}, signal?: AbortSignal) =>
      call('task.diff', { ...named, ...input }, signal),
    rewind: (to: number, signal?: AbortSignal) => call('task.rewind', { ...named, to }, signal),
    accept: (input: Omit<Input<'task.accept'>, 'repo' | 'task'> = {}, signal?: AbortSignal) =>
      call('task.accept', { ...named, ...input }, signal),
    update: (input: Omit<Input<'task.update'>, 'repo' | 'task'> = {}, signal?: AbortSignal) =>
      call('task.update', { ...named, ...input }, signal),
    reject: (input: { keepBranch?: boolean } = {}, signal?: AbortSignal) =>
      call('task.reject', { ...named, ...input }, signal),
    exec: (command: readonly string[], signal?: AbortSignal, emit?: Emit) =>
      call('task.run', { ...named, create: false, command }, signal, emit),
    repair: (signal?: AbortSignal) => call('task.repair', named, signal),
    remove: (input: { force?: boolean; keepBranch?: boolean } = {}, signal?: AbortSignal) =>
      call('worktree.remove', { ...named, ...input }, signal),
    /**
     * Runs an agent loop of your own. Tools wrapped with `wrap` make a step per call. Changes that are left at the end
     * become one more step, and the steps are published. If the loop throws, the run has failed; its work is kept.
     */
    async run<T>(agent: string, loop: (run: LoopRun) => Promise<T>, signal?: AbortSignal): Promise<T> {
      const found = await requireTask(ports, repo, id)
      const work = async (run: ActiveRun) => {
        const wrap = <W extends Tools>(tools: W, options?: WrapOptions) => wrapTools(run, tools, options)
        const wrapOne: LoopRun['wrapExecutor'] = (execute, options) => wrapExecutor(run, execute, options)
        const value = await loop({ id: run.id, workspace: run.task.path, wrap, wrapExecutor: wrapOne })
        return { value, reason: '', tool: 'sweep', summary: 'at the end of the run' }
      }
      return (await withRun(ports, found, agent, work, { meanwhile: recoverMeanwhile, signal })).value
    },
  }
}

/** The argument of an agent loop. */
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
