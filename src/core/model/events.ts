/** Everything that can happen to a task, and the record of a task after it (docs/adr/0013-events-as-the-spine.md). */
import type { CommitWords } from './git.ts'
import type { Metadata, QueuedRun } from './queue.ts'
import { begunRun, endedRun } from './run-record.ts'
import type { DiffStat, SkippedPath, StepCall, StepFile } from './step.ts'
import {
  isOpen,
  type LastCall,
  type Owner,
  type Pending,
  type PortBlock,
  runsOf,
  runsPending,
  type Task,
  type TaskPatch,
} from './task.ts'
import { plus, type Totals, type Usage } from './usage.ts'

/**
 * The events of a task. A verb of several steps appends `….begun` before its first effect, so that recovery finds
 * half-made things by that mark.
 */
export type TaskEvent =
  | { readonly type: 'start.begun'; readonly task: Task; readonly owner: Owner }
  | { readonly type: 'start.done' }
  /** Ignored files of the user were copied or linked into the workspace: how many, and the first of each kind. */
  | {
      readonly type: 'included'
      readonly count: number
      readonly copied: readonly string[]
      readonly linked: readonly string[]
      readonly secrets: readonly string[]
    }
  /** The task got its network ports, before its first command. */
  | { readonly type: 'ports.given'; readonly portBlock: PortBlock }
  /** Slash commands for the agent were written into the workspace. */
  | { readonly type: 'installed'; readonly files: readonly string[] }
  | {
      readonly type: 'start.undone'
      readonly reason: string
      /** The place in the trash of the folder that the start had begun to fill. */
      readonly trash?: string | undefined
    }
  | { readonly type: 'recreate.begun'; readonly owner: Owner }
  | { readonly type: 'recreate.done' }
  | { readonly type: 'recreate.undone'; readonly reason: string }
  | {
      readonly type: 'checkpoint'
      readonly n: number
      readonly commit: string
      readonly tool: string
      readonly summary: string
      readonly run?: string | undefined
      readonly call?: string | undefined
      readonly calls?: readonly StepCall[] | undefined
      readonly files: readonly StepFile[]
      readonly skipped: readonly SkippedPath[]
      /** The whole task against step 0. */
      readonly total: DiffStat
    }
  | { readonly type: 'checkpoint.failed'; readonly tool?: string | undefined; readonly reason: string }
  /** Steps can be kept again, after a `checkpoint.failed`. */
  | { readonly type: 'checkpoint.resumed' }
  /** A hook was not run, because the user does not trust it. */
  | { readonly type: 'hook.skipped'; readonly hook: string }
  | {
      readonly type: 'run.begun'
      readonly run: string
      readonly agent: string
      readonly owner: Owner
      /** Of a command of the user's own, which works beside others: the number of its lock. */
      readonly exec?: number | undefined
      /** Its command line. */
      readonly name?: string | undefined
      /** The place in the queue that it leaves by this. */
      readonly entry?: string | undefined
    }
  /** A run waits for its turn: the daemon starts it. What it is to do is in a note, whole and unmasked, until it begins. */
  | ({ readonly type: 'run.queued'; readonly metadata?: Metadata | undefined } & Omit<QueuedRun, 'at'>)
  /** A run left the queue without having begun. */
  | {
      readonly type: 'run.unqueued'
      readonly entry: string
      readonly reason: string
      /** It could not be begun; without it, somebody took it off the queue. */
      readonly error?: { readonly code: string; readonly hint: string } | undefined
    }
  | {
      readonly type: 'run.conversation'
      readonly run: string
      readonly agent: string
      readonly conversation: string
    }
  /** The agent asks the user, and nobody is at a terminal: the run waits for `run.answered`. */
  | {
      readonly type: 'run.asked'
      readonly run: string
      readonly question: string
      readonly tool: string
      readonly summary: string
      readonly call?: string | undefined
      readonly reason: string
      readonly until: string
      /** As in `run.decided`. */
      readonly input: string
      readonly inputHash: string
      readonly inputBytes: number
    }
  /** The first answer to a question; `nobody`: there was none in time. */
  | {
      readonly type: 'run.answered'
      readonly run: string
      readonly question: string
      readonly said: 'once' | 'always' | 'deny'
      readonly by: 'user' | 'token' | 'nobody'
      /** The hash of the tool use that the user has allowed for the rest of this task. */
      readonly use?: string | undefined
    }
  /** The user sent the agent a message, which it gets when its turn is over. */
  | { readonly type: 'run.said'; readonly run: string; readonly text: string; readonly by: 'user' | 'token' }
  /** An agent was given that many of the messages, the oldest first. */
  | {
      readonly type: 'run.heard'
      readonly run: string
      readonly count: number
      /** Only messages that were said during this run. */
      readonly own?: boolean | undefined
    }
  /** A tool was allowed or denied, and by whom. */
  | {
      readonly type: 'run.decided'
      readonly run: string
      readonly tool: string
      readonly summary: string
      readonly call?: string | undefined
      readonly allow: boolean
      readonly by: 'policy' | 'always' | 'user' | 'nobody'
      readonly reason: string
      /** All of the call's input as JSON, masked and cut where it is long; then the hash and the size of the whole. */
      readonly input?: string | undefined
      readonly inputHash?: string | undefined
      readonly inputBytes?: number | undefined
      /** The hash of the tool use that the user has allowed for the rest of this task. */
      readonly use?: string | undefined
    }
  /** The agent called a verb that only the user may use. */
  | { readonly type: 'run.wanted'; readonly run: string; readonly verb: string }
  /** Somebody asked the run to end. */
  | { readonly type: 'run.stopping'; readonly run: string; readonly reason: string }
  /** Refs, the git folder, hooks or files of the user's checkout changed during the run, besides the branches of tasks. */
  | {
      readonly type: 'run.strayed'
      readonly run: string
      readonly changes: readonly StrayChange[]
      /** Its undo puts back what is kept. */
      readonly operation?: string | undefined
    }
  | {
      readonly type: 'run.ended'
      readonly run: string
      readonly ok: boolean
      readonly reason: string
      /** Why auto-revert may reject the task. */
      readonly trigger?: Extract<Trigger, 'failure' | 'shutdown'> | undefined
      /** How long it took; left out of one that was killed. */
      readonly seconds?: number | undefined
      /** What it used, and what its conversation has used in all, as far as its agent told. */
      readonly usage?: Usage | undefined
      readonly totals?: Totals | undefined
    }
  | { readonly type: 'publish.begun'; readonly owner: Owner }
  | {
      readonly type: 'publish.done'
      readonly branch: string
      readonly tip: string
      readonly leftOut?: string | undefined
    }
  | { readonly type: 'publish.undone'; readonly reason: string }
  | {
      readonly type: 'operation.begun'
      readonly id: string
      readonly verb: string
      readonly undoes?: string | undefined
      readonly batch?: string | undefined
      /** Why it cannot be undone. */
      readonly final?: string | undefined
      readonly owner: Owner
    }
  /** Every new file is on the disk: if the process dies from here on, recovery finishes the operation. */
  | { readonly type: 'operation.staged'; readonly id: string }
  /** The staged files are about to be deleted: if the process dies from here on, recovery takes the operation back. */
  | { readonly type: 'operation.unstaged'; readonly id: string }
  | {
      readonly type: 'operation.undone'
      readonly id: string
      readonly reason: string
      readonly patch: TaskPatch
    }
  | {
      readonly type: 'operation.done'
      readonly id: string
      /** The commit that it moved a branch to: the landed one, or with an undo the one before. */
      readonly commit?: string | undefined
      readonly patch: TaskPatch
      /** Paths that somebody else changed during the operation: it left these files alone. */
      readonly left: readonly string[]
    }
  /** Auto-revert rejected the task, by that operation: a line in the failure log. */
  | ({ readonly type: 'reverted'; readonly operation?: string | undefined } & AutoRevert)
  /** Auto-revert was due to reject the task, and failed. */
  | ({ readonly type: 'revert.failed' } & AutoRevert)
  /** The folder of a closed task was deleted from the trash, because the vault has all of its files. */
  | { readonly type: 'trash.slimmed'; readonly bytes: number }
  /**
   * Recovery found a worktree or a folder of no open task, or missed that of one. What belongs to no task is in the log of
   * the last task of the repository, as every entry is in the log of one; `of` says whose it is or was.
   */
  | {
      readonly type: 'orphan.found'
      readonly path: string
      readonly kind: 'worktree' | 'folder' | 'missing'
      readonly branch: string | null
      readonly of: string | null
    }
  /** Recovery or repair mended something. */
  | { readonly type: 'mended'; readonly what: string }
  /** The task is about to be deleted for good: from here on nothing of it can be undone. */
  | { readonly type: 'expiry.begun' }
  | { readonly type: 'expiry.done' }
  /** The record was lost, and was made again from the vault. */
  | { readonly type: 'rebuilt' }
  /** The user moved the repository, and the paths of the task with it. */
  | {
      readonly type: 'moved'
      readonly to: Pick<Task, 'origin' | 'path'> & Partial<Pick<Task, 'shadow'>>
    }

/** Why auto-revert rejects a task. */
type Trigger = 'failure' | 'shutdown' | 'idle' | 'new task'

export interface AutoRevert {
  readonly trigger: Trigger
  readonly reason: string
}

/** A ref, or a file of the git folder, of a folder of hooks or of the checkout, that changed. Null: it did not exist. */
export interface StrayChange {
  readonly what: string
  /** The value of a ref, the text of a HEAD, else a hash. */
  readonly before: string | null
  readonly after: string | null
  /** The permissions before and after, as for `chmod`, if they changed. */
  readonly mode?: { readonly before: string; readonly after: string } | undefined
  /** Of a file of the checkout: `what` is its path there, `before` and `after` are the ids of its contents. */
  readonly where?: 'checkout' | undefined
  /** Of a config: the keys that changed. */
  readonly keys?: readonly string[] | undefined
  /** Of a branch: the commits that it was and is at. */
  readonly commits?:
    | { readonly before?: CommitWords | undefined; readonly after?: CommitWords | undefined }
    | undefined
  /** Why an undo of the run leaves it. */
  readonly why?: string | undefined
  /** A command that puts it back, if the user wants that. */
  readonly back?: string | undefined
  /** Whether the old value is kept, so that an undo can put it back. Of older events it is not known. */
  readonly kept?: boolean | undefined
}

/** An event as it was stored: `n` counts within the task from 1, `seq` over all tasks. */
export interface StoredEvent {
  readonly seq: number
  readonly uid: string
  readonly n: number
  readonly at: string
  /** The process that appended it. */
  readonly pid?: number | undefined
  readonly event: TaskEvent
}

/**
 * The task after one more event. An event that is unknown or does not fit the task changes nothing, so that a log
 * written by a newer version can still be read.
 */
export function reduce(task: Task | undefined, event: TaskEvent, at: string): Task | undefined {
  if (event.type === 'start.begun') {
    return task ?? { ...event.task, state: 'pending', pending: { verb: 'start', owner: event.owner } }
  }
  if (task === undefined) return undefined
  switch (event.type) {
    case 'start.done':
      if (task.pending?.verb !== 'start') return task
      return { ...withoutPending(task), state: 'active', lastActiveAt: at }
    case 'start.undone':
      if (task.pending?.verb !== 'start') return task
      return { ...withoutPending(task), state: 'failed', reason: event.reason, closedAt: at, hidden: true }
    case 'ports.given':
      return { ...task, portBlock: event.portBlock }
    case 'recreate.begun':
      return { ...task, pending: { verb: 'recreate', owner: event.owner } }
    case 'recreate.done':
      return { ...withoutPending(task), lastActiveAt: at }
    case 'recreate.undone':
      return withoutPending(task)
    case 'checkpoint':
      if (event.n <= task.checkpoints) return task
      return {
        ...task,
        ...event.total,
        checkpoints: event.n,
        ...lastCall(event),
        // A sweep is no sign that somebody uses the task.
        lastActiveAt: event.tool === 'sweep' ? task.lastActiveAt : at,
      }
    case 'checkpoint.failed':
      return {
        ...task,
        state: 'failed',
        reason: event.reason,
        unkept: true,
        lastActiveAt: event.tool === 'sweep' ? task.lastActiveAt : at,
      }
    case 'checkpoint.resumed':
      return task.unkept ? { ...without(task, 'reason', 'trigger', 'unkept'), state: 'active' } : task
    case 'run.queued':
      return withQueued(task, event, at)
    case 'run.unqueued': {
      const { entry, error, reason } = event
      if (!isQueued(task, entry)) return task
      const left = withoutQueued(task, entry)
      return error && !task.pending && isOpen(task) ? { ...left, state: 'failed', reason } : left
    }
    case 'run.begun':
      return withRun(withoutQueued(task, event.entry), event, at)
    case 'run.wanted':
      return { ...task, wanted: event.verb }
    case 'run.asked': {
      const { run, question, tool, summary, reason, inputHash, until } = event
      return { ...task, asks: { question, run, tool, summary, reason, inputHash, at, until } }
    }
    case 'run.answered':
      return task.asks?.question === event.question ? without(task, 'asks') : task
    case 'run.decided':
      return event.allow ? { ...task, ...lastCall(event) } : { ...task, denied: (task.denied ?? 0) + 1 }
    case 'run.said':
      return { ...task, unheard: (task.unheard ?? 0) + 1 }
    case 'run.heard': {
      const left = (task.unheard ?? 0) - event.count
      return left > 0 ? { ...task, unheard: left } : without(task, 'unheard')
    }
    case 'run.conversation':
      return { ...task, conversation: withId(task.conversation, event) }
    case 'run.ended':
      return withoutRun(task, event, at)
    case 'publish.begun':
      return withPending(task, { verb: 'publish', owner: event.owner })
    case 'publish.done':
      return {
        ...without(withoutVerb(task, 'publish'), 'unpublished'),
        head: event.tip,
        ...withLeftOut(task, event.leftOut),
      }
    case 'publish.undone':
      return { ...withoutVerb(task, 'publish'), unpublished: event.reason }
    case 'operation.begun':
      return withPending(task, { verb: 'operation', owner: event.owner, operation: event.id, staged: false })
    case 'operation.staged':
      if (task.pending?.verb !== 'operation') return task
      return { ...task, pending: { ...task.pending, staged: true } }
    case 'operation.unstaged':
      if (task.pending?.verb !== 'operation') return task
      return { ...task, pending: { ...task.pending, staged: false } }
    case 'operation.undone':
      return withPatch(withoutVerb(task, 'operation'), event.patch)
    case 'operation.done':
      // A user decided about the task, or undid a decision: auto-revert does not reject it for the same reason again.
      return withPatch(
        { ...without(withoutVerb(task, 'operation'), 'trigger'), lastActiveAt: at },
        event.patch,
      )
    case 'revert.failed':
      return { ...task, unreverted: event.reason }
    case 'expiry.begun':
      return { ...task, expiry: 'begun' }
    case 'expiry.done':
      return { ...without(task, 'trash'), expiry: 'done' }
    case 'moved':
      return { ...task, ...event.to }
    default:
      return task
  }
}

type Of<T extends TaskEvent['type']> = Extract<TaskEvent, { type: T }>

/** A sweep holds changes of no call, so the call before it stays the last one. */
function lastCall({ tool, summary }: LastCall): Pick<Task, 'lastCall'> {
  return tool === 'sweep' ? {} : { lastCall: { tool, summary } }
}

/** The same place in the queue with another priority is the same run. */
function withQueued(task: Task, event: Of<'run.queued'>, at: string): Task {
  const { entry, agent, what, priority, metadata } = event
  const run = { entry, agent, what, priority, at }
  const before = task.queued ?? []
  const queued = isQueued(task, entry)
    ? before.map((one) => (one.entry === entry ? { ...run, at: one.at } : one))
    : [...before, run]
  return { ...task, queued, lastActiveAt: at, ...(metadata && { metadata }) }
}

export function isQueued({ queued = [] }: Pick<Task, 'queued'>, entry: string): boolean {
  return queued.some((one) => one.entry === entry)
}

function withoutQueued(task: Task, entry: string | undefined): Task {
  const queued = task.queued?.filter((one) => one.entry !== entry) ?? []
  return queued.length > 0 ? { ...task, queued } : without(task, 'queued')
}

/** A command that begins beside other runs says nothing about how the task stands. */
function withRun(task: Task, event: Of<'run.begun'>, at: string): Task {
  const { run, agent, owner, exec, name = agent } = event
  const others = runsOf(task)
  const mark = { owner, run, name, ...(exec !== undefined && { exec }), at }
  const pending = runsPending([...others, mark])!
  const command = exec === undefined ? {} : lastCall({ tool: 'command', summary: name })
  const begun = { ...task, ...command, runs: task.runs + 1, lastActiveAt: at, pending }
  if (exec !== undefined && others.length > 0) return begun
  return {
    ...without(begun, 'asks', 'denied', 'reason', 'trigger', 'unkept', 'unreverted', 'wanted'),
    state: 'active',
    agent,
    ...(exec === undefined && { lastRun: begunRun(event, at) }),
  }
}

/** Going on with a conversation keeps what is known of it. */
function withId(known: Task['conversation'], { agent, conversation: id }: Of<'run.conversation'>) {
  return known?.id === id && known.agent === agent ? known : { agent, id }
}

/** What the run took counts for the task. A command of the user's own is no agent, and takes nothing. */
function withSpent(task: Task, event: Of<'run.ended'>, at: string): Task {
  const { conversation, lastRun, usage } = task
  if (!lastRun || lastRun.run !== event.run || lastRun.endedAt !== undefined) return task
  const seconds = Math.round(((usage?.seconds ?? 0) + (event.seconds ?? 0)) * 1000) / 1000
  const used = event.usage ? plus(usage, event.usage) : { ...usage }
  return {
    ...task,
    lastRun: endedRun(lastRun, event, at),
    usage: { ...used, seconds },
    ...(conversation && event.totals && { conversation: { ...conversation, used: event.totals } }),
  }
}

/**
 * The end of a run decides how the task stands. That of a command does so only when it ends last, and no agent has ended
 * since it began: a server that the user stops does not make an agent's work a failure.
 */
function withoutRun(before: Task, event: Of<'run.ended'>, at: string): Task {
  const { run, ok, reason, trigger } = event
  const runs = runsOf(before)
  // It has been recovered, and others have begun since.
  if (runs.length > 0 && runs.every((mark) => mark.run !== run)) return before
  const task = withSpent(before, event, at)
  const pending = runsPending(runs.filter((mark) => mark.run !== run))
  const rest = without(withoutVerb(task, 'run'), ...(task.asks?.run === run ? (['asks'] as const) : []))
  const ended = pending ? { ...rest, pending } : rest
  // The task was closed during the run.
  if (!isOpen(task)) return ended
  const isCommand = runs.find((mark) => mark.run === run)?.exec !== undefined
  const isDecided = task.state !== 'active' && !task.unkept
  if (isCommand && (pending || isDecided)) return { ...ended, lastActiveAt: at }
  return {
    ...without(ended, 'reason', 'trigger', 'unkept'),
    state: ok ? 'completed' : 'failed',
    lastActiveAt: at,
    ...(ok ? {} : { reason }),
    ...(trigger && { trigger }),
  }
}

function withPatch(task: Task, patch: TaskPatch): Task {
  const kept = Object.entries({ ...task, ...patch }).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  const next = Object.fromEntries(kept) as unknown as Task
  // A closed task gives its ports back, and its place in the queue; a task that is opened again gets new ports.
  return isOpen(next) ? next : without(next, 'portBlock', 'queued')
}

/** A publish or an operation during a run does not replace the mark of the run, which ends later. */
function withPending(task: Task, pending: Pending): Task {
  return task.pending?.verb === 'run' ? task : { ...task, pending }
}

function withoutVerb(task: Task, verb: Pending['verb']): Task {
  return task.pending?.verb === verb ? withoutPending(task) : task
}

/** The commits stay off the branch, whatever is published later. */
function withLeftOut({ leftOut = '' }: Task, more: string | undefined): Pick<Task, 'leftOut'> {
  if (more === undefined || leftOut.includes(more)) return {}
  return { leftOut: `${leftOut} ${more}`.trim() }
}

function withoutPending(task: Task): Task {
  return without(task, 'pending')
}

type Passing =
  | 'asks'
  | 'denied'
  | 'pending'
  | 'portBlock'
  | 'queued'
  | 'reason'
  | 'trash'
  | 'trigger'
  | 'unheard'
  | 'unkept'
  | 'unpublished'
  | 'unreverted'
  | 'wanted'

function without(task: Task, ...keys: readonly Passing[]): Task {
  const rest: Partial<Record<keyof Task, unknown>> = { ...task }
  for (const key of keys) delete rest[key]
  return rest as Task
}
