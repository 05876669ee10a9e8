/** Names for what the verbs of the library take and answer. */
import type { ActionName } from '../actions/index.ts'
import type { Told } from '../protocol/events.ts'
import type { Input, Output } from '../protocol/schemas/index.ts'

/** The repository is named once, by `openRepo`. */
type Rest<A extends ActionName> = Omit<Input<A>, 'repo'>
/** The task is named once, by `repo.task`. */
type OfTask<A extends ActionName> = Omit<Input<A>, 'repo' | 'task'>

/** What every verb takes after its input. */
export interface CallOptions {
  /** Cancels the verb: it throws `WT_021` and leaves nothing partial. */
  readonly signal?: AbortSignal | undefined
  /** Receives the events of the verb as they come. Its answer to `asked` and `risky` counts: once, always or deny. */
  readonly onEvent?: ((event: Told) => unknown) | undefined
}

export type StartInput = Rest<'task.start'>
export type StartAnswer = Output<'task.start'>
export type ListInput = Rest<'task.list'>
export type CheckpointInput = Rest<'task.checkpoint'>
export type CheckpointAnswer = Output<'task.checkpoint'>
/** One step, as `log` lists it. */
export type StepView = Output<'task.log'>['checkpoints'][number]
export type DiffInput = Rest<'task.diff'>
export type DiffAnswer = Output<'task.diff'>
/** One hunk, as `diff` lists it for `accept`. */
export type HunkView = NonNullable<DiffAnswer['hunks']>[number]
export type RewindInput = Rest<'task.rewind'>
export type RewindAnswer = Output<'task.rewind'>
export type RunInput = Rest<'task.run'>
export type RunAnswer = Output<'task.run'>
export type CompareInput = Rest<'task.compare'>
export type CompareAnswer = Output<'task.compare'>
export type ForecastInput = Rest<'task.forecast'>
export type ForecastAnswer = Output<'task.forecast'>
export type AnswerInput = Rest<'task.answer'>
export type AnswerAnswer = Output<'task.answer'>
export type SayAnswer = Output<'task.say'>
export type StopAnswer = Output<'task.stop'>
export type InstallInput = Rest<'task.install'>
export type InstallAnswer = Output<'task.install'>
export type AcceptInput = Rest<'task.accept'>
export type AcceptAnswer = Output<'task.accept'>
/** What `accept` with `dryRun` would land. */
export type Preview = NonNullable<AcceptAnswer['preview']>
export type UpdateInput = Rest<'task.update'>
export type UpdateAnswer = Output<'task.update'>
export type RejectInput = Rest<'task.reject'>
export type RejectAnswer = Output<'task.reject'>
/** One operation, as `ops` lists it. */
export type OperationView = Output<'system.ops'>['operations'][number]
export type UndoAnswer = Output<'system.undo'>
export type RepairAnswer = Output<'task.repair'>
export type RemoveInput = Rest<'worktree.remove'>
export type RemoveAnswer = Output<'worktree.remove'>
export type PruneInput = Rest<'task.prune'>
export type PruneAnswer = Output<'task.prune'>
/** One check, as `doctor` lists it. */
export type CheckView = Output<'system.doctor'>['checks'][number]
/** One worktree, as `git worktree list` has it, and its task. */
export type WorktreeView = Output<'worktree.list'>['worktrees'][number]
/** A worktree or folder of no open task, or one that an open task misses. */
export type OrphanView = Output<'system.orphans'>['orphans'][number]
export type DiskInput = Rest<'system.disk'>
export type DiskAnswer = Output<'system.disk'>
/** What `recover` finished or rolled back. */
export type Recovered = Output<'system.recover'>['recovered'][number]
export type PoolInput = Rest<'system.pool'>
export type PoolAnswer = Output<'system.pool'>
export type AuditInput = Omit<Rest<'system.audit'>, 'verify'>
/** One entry of the audit log. */
export type AuditEntry = NonNullable<Output<'system.audit'>['events']>[number]
/** Whether the audit log is as it was written. */
export type AuditVerdict = NonNullable<Output<'system.audit'>['verified']>
export type TrustInput = Pick<Rest<'system.trust'>, 'show' | 'revoke' | 'fingerprint'>
export type TrustAnswer = Output<'system.trust'>
export type ImportInput = Rest<'system.import'>
export type ImportAnswer = Output<'system.import'>
/** One agent, and whether it is installed. */
export type AgentView = Output<'system.agents'>['agents'][number]
export type ForgetAnswer = Output<'system.forget'>

export type TaskCheckpointInput = OfTask<'task.checkpoint'>
export type TaskDiffInput = OfTask<'task.diff'>
export type TaskAcceptInput = OfTask<'task.accept'>
export type TaskUpdateInput = OfTask<'task.update'>
export type TaskRejectInput = OfTask<'task.reject'>
export type TaskRemoveInput = Omit<OfTask<'worktree.remove'>, 'name' | 'path'>
