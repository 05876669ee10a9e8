/** One repository as the library shows it: the verbs of the command line as functions. */
import { openDoor } from '../api/call.ts'
import { callerOf } from '../api/caller.ts'
import { type FollowedEvent, openFollow } from '../api/follow.ts'
import type { Composed } from '../compose/full.ts'
import type { Notice } from '../core/model/notice.ts'
import type { TaskView } from '../core/model/task-view.ts'
import { checked } from './checked.ts'
import { type OpenTask, openTask } from './task.ts'
import type * as T from './types.ts'

export interface OpenRepo extends AsyncDisposable {
  start(input?: T.StartInput, options?: T.CallOptions): Promise<T.StartAnswer>
  /** Newest first; starts no process. */
  list(input?: T.ListInput, options?: T.CallOptions): Promise<readonly TaskView[]>
  /** Reads the workspace too. Throws `WT_007` when there is no such task. */
  show(task: string, options?: T.CallOptions): Promise<TaskView>
  /** The task as of its last event, without starting a process; undefined when there is no such task. */
  find(task: string, options?: T.CallOptions): Promise<TaskView | undefined>
  findByPath(path: string, options?: T.CallOptions): Promise<TaskView | undefined>
  /** Whether there is an open task of that id. */
  exists(task: string, options?: T.CallOptions): Promise<boolean>
  checkpoint(input: T.CheckpointInput, options?: T.CallOptions): Promise<T.CheckpointAnswer>
  log(task: string, options?: T.CallOptions): Promise<readonly T.StepView[]>
  diff(input: T.DiffInput, options?: T.CallOptions): Promise<T.DiffAnswer>
  rewind(input: T.RewindInput, options?: T.CallOptions): Promise<T.RewindAnswer>
  run(input: T.RunInput, options?: T.CallOptions): Promise<T.RunAnswer>
  compare(input: T.CompareInput, options?: T.CallOptions): Promise<T.CompareAnswer>
  /** Which open tasks conflict, with what, and in which order to land them. */
  forecast(input?: T.ForecastInput, options?: T.CallOptions): Promise<T.ForecastAnswer>
  /** Answers the question that an agent waits with; without an answer, only shows it. */
  answer(input: T.AnswerInput, options?: T.CallOptions): Promise<T.AnswerAnswer>
  /** Sends a message to the agent at work, which gets it when its turn is over. */
  say(task: string, text: string, options?: T.CallOptions): Promise<T.SayAnswer>
  stop(task: string, options?: T.CallOptions): Promise<T.StopAnswer>
  install(input: T.InstallInput, options?: T.CallOptions): Promise<T.InstallAnswer>
  accept(input: T.AcceptInput, options?: T.CallOptions): Promise<T.AcceptAnswer>
  update(input: T.UpdateInput, options?: T.CallOptions): Promise<T.UpdateAnswer>
  reject(input: T.RejectInput, options?: T.CallOptions): Promise<T.RejectAnswer>
  /** Rejects the task and hides its record. */
  delete(task: string, options?: T.CallOptions): Promise<T.RejectAnswer>
  ops(options?: T.CallOptions): Promise<readonly T.OperationView[]>
  /** Without an operation, undoes the last one that is not undone. */
  undo(operation?: string, options?: T.CallOptions): Promise<T.UndoAnswer>
  /** Repairs one task; without a name, everything that doctor finds and that can be repaired. */
  repair(task?: string, options?: T.CallOptions): Promise<T.RepairAnswer>
  /** Rebuilds lost records from the vaults, then repairs. */
  rebuild(options?: T.CallOptions): Promise<T.RepairAnswer>
  remove(input: T.RemoveInput, options?: T.CallOptions): Promise<T.RemoveAnswer>
  prune(input?: T.PruneInput, options?: T.CallOptions): Promise<T.PruneAnswer>
  doctor(options?: T.CallOptions): Promise<readonly T.CheckView[]>
  /** Every worktree of the repository, as `git worktree list` has them, each with its task. */
  worktrees(options?: T.CallOptions): Promise<readonly T.WorktreeView[]>
  /** Worktrees and folders that belong to no open task, and those that an open task misses. */
  orphans(options?: T.CallOptions): Promise<readonly T.OrphanView[]>
  /** The size of workspaces, vault, pool and trash in bytes; of all workspaces, or of one task's. */
  disk(input?: T.DiskInput, options?: T.CallOptions): Promise<T.DiskAnswer>
  recover(options?: T.CallOptions): Promise<readonly T.Recovered[]>
  /** The notices since the last call; each is returned once. */
  notices(options?: T.CallOptions): Promise<readonly Notice[]>
  /** Makes workspaces ahead until there are `pool.size`, and waits for them. Without this call a background process does it. */
  pool(input?: T.PoolInput, options?: T.CallOptions): Promise<T.PoolAnswer>
  audit(input?: T.AuditInput, options?: T.CallOptions): Promise<readonly T.AuditEntry[]>
  /** Verifies the log of all repositories: its flaws, none if every entry is as it was written. */
  verifyAudit(options?: T.CallOptions): Promise<T.AuditVerdict | undefined>
  /** Trusts the repository's own settings as they are now; with `show`, only returns what there is to trust. */
  trust(input?: T.TrustInput, options?: T.CallOptions): Promise<T.TrustAnswer>
  /** Imports the workspace setup for other tools into `.offshoot.yaml`. */
  importPeers(input?: T.ImportInput, options?: T.CallOptions): Promise<T.ImportAnswer>
  agents(options?: T.CallOptions): Promise<readonly T.AgentView[]>
  /** Moves every task of the repository into the trash. `repos` lists it again after the next start in it. */
  forget(options?: T.CallOptions): Promise<T.ForgetAnswer>
  /**
   * Every event of the repository's tasks, by whichever process: each once, in the order of the log. `since` is the `seq` of
   * the last one that you have; without it only events from now on come. Ends when `signal` is aborted or the repository closed.
   */
  events(options?: EventsOptions): AsyncIterable<FollowedEvent>
  /** The verbs of one open task, and `run` for an agent loop of your own. */
  task(id: string): OpenTask
  /** Waits for work in the background. `await using` calls it. */
  close(): Promise<void>
}

export interface EventsOptions {
  readonly since?: number | undefined
  /** Only events of tasks with that id. */
  readonly task?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** The verbs over these ports, for the repository that holds `repo`. */
export function repoOn(ports: Composed, repo: string): OpenRepo {
  const readCaller = () => callerOf(ports.processes.findRun())
  const call = checked(openDoor(ports, readCaller))
  const follow = openFollow(ports, readCaller)
  const closing = new AbortController()
  const close = () => {
    closing.abort()
    return ports.close()
  }
  return {
    start: (input = {}, options) => call('task.start', { repo, ...input }, options),
    list: async (input = {}, options) => (await call('task.list', { repo, ...input }, options)).tasks,
    show: async (task, options) => (await call('task.show', { repo, task }, options)).task,
    find: async (task, options) => (await call('task.find', { repo, task }, options)).task ?? undefined,
    findByPath: async (path, options) => (await call('task.find', { repo, path }, options)).task ?? undefined,
    exists: async (task, options) => (await call('task.exists', { repo, task }, options)).exists,
    checkpoint: (input, options) => call('task.checkpoint', { repo, ...input }, options),
    log: async (task, options) => (await call('task.log', { repo, task }, options)).checkpoints,
    diff: (input, options) => call('task.diff', { repo, ...input }, options),
    rewind: (input, options) => call('task.rewind', { repo, ...input }, options),
    run: (input, options) => call('task.run', { repo, ...input }, options),
    compare: (input, options) => call('task.compare', { repo, ...input }, options),
    forecast: (input = {}, options) => call('task.forecast', { repo, ...input }, options),
    answer: (input, options) => call('task.answer', { repo, ...input }, options),
    say: (task, text, options) => call('task.say', { repo, task, text }, options),
    stop: (task, options) => call('task.stop', { repo, task }, options),
    install: (input, options) => call('task.install', { repo, ...input }, options),
    accept: (input, options) => call('task.accept', { repo, ...input }, options),
    update: (input, options) => call('task.update', { repo, ...input }, options),
    reject: (input, options) => call('task.reject', { repo, ...input }, options),
    delete: (task, options) => call('task.delete', { repo, task }, options),
    ops: async (options) => (await call('system.ops', { repo }, options)).operations,
    undo: (operation, options) => call('system.undo', { repo, operation }, options),
    repair: (task, options) => call('task.repair', { repo, task }, options),
    rebuild: (options) => call('task.repair', { repo, rebuild: true }, options),
    remove: (input, options) => call('worktree.remove', { repo, ...input }, options),
    prune: (input = {}, options) => call('task.prune', { repo, ...input }, options),
    doctor: async (options) => (await call('system.doctor', { repo }, options)).checks,
    worktrees: async (options) => (await call('worktree.list', { repo }, options)).worktrees,
    orphans: async (options) => (await call('system.orphans', { repo }, options)).orphans,
    disk: (input = {}, options) => call('system.disk', { repo, ...input }, options),
    recover: async (options) => (await call('system.recover', {}, options)).recovered,
    notices: async (options) => (await call('system.notices', { repo }, options)).notices,
    pool: (input = {}, options) => call('system.pool', { repo, ...input }, options),
    audit: async (input = {}, options) =>
      (await call('system.audit', { repo, ...input }, options)).events ?? [],
    verifyAudit: async (options) => (await call('system.audit', { repo, verify: true }, options)).verified,
    trust: (input = {}, options) => call('system.trust', { repo, ...input }, options),
    importPeers: (input = {}, options) => call('system.import', { repo, ...input }, options),
    agents: async (options) => (await call('system.agents', { repo }, options)).agents,
    forget: (options) => call('system.forget', { repo }, options),
    events({ since, task, signal } = {}) {
      const ends = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      return follow({ dir: repo, since, task, signal: ends })
    },
    task: (id) => openTask(ports, call, repo, id),
    close,
    [Symbol.asyncDispose]: close,
  }
}
