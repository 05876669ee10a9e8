import type { DiffStat, SkippedPath, StepFile } from './step.ts'
import { isOpen, type Owner, type Pending, type PortBlock, type Task, type TaskPatch } from './task.ts'

/**
 * Everything that can happen to a task. A verb of several steps appends `….begun` before its first effect, so
 * that whatever it left half-made can be found by that mark.
 */
export type TaskEvent =
  | { readonly type: 'start.begun'; readonly task: Task; readonly owner: Owner }
  | { readonly type: 'start.done' }
  /** Ignored files of the user's were given to the workspace; of many, the first. */
  | {
      readonly type: 'included'
      readonly count: number
      readonly copied: readonly string[]
      readonly linked: readonly string[]
      readonly secrets: readonly string[]
    }
  /** The ports of a task, from its first command on. */
  | { readonly type: 'ports.given'; readonly portBlock: PortBlock }
  /** Commands for the agent itself were put into the workspace. */
  | { readonly type: 'installed'; readonly files: readonly string[] }
  | {
      readonly type: 'start.undone'
      readonly reason: string
      /** Where the folder went that it had begun to fill. */
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
      readonly files: readonly StepFile[]
      readonly skipped: readonly SkippedPath[]
      /** The whole task against step 0. */
      readonly total: DiffStat
    }
  | { readonly type: 'checkpoint.failed'; readonly tool?: string | undefined; readonly reason: string }
  /** After that steps can be kept again. */
  | { readonly type: 'checkpoint.resumed' }
  /** What was to run before something did not, as nobody trusts it. */
  | { readonly type: 'hook.skipped'; readonly hook: string }
  | { readonly type: 'run.begun'; readonly run: string; readonly agent: string; readonly owner: Owner }
  | {
      readonly type: 'run.conversation'
      readonly run: string
      readonly agent: string
      readonly conversation: string
    }
  /** Whether a tool might run, and who said so. */
  | {
      readonly type: 'run.decided'
      readonly run: string
      readonly tool: string
      readonly summary: string
      readonly call?: string | undefined
      readonly allow: boolean
      readonly by: 'policy' | 'always' | 'user' | 'nobody'
      readonly reason: string
      /** What is allowed for this task from then on. */
      readonly use?: string | undefined
    }
  /** The agent wanted what only the user may do. */
  | { readonly type: 'run.wanted'; readonly run: string; readonly verb: string }
  /** Somebody wants the run to end. */
  | { readonly type: 'run.stopping'; readonly run: string; readonly reason: string }
  /** What is no longer as it was in the user's repository, besides the task's own. */
  | { readonly type: 'run.strayed'; readonly run: string; readonly changes: readonly StrayChange[] }
  | {
      readonly type: 'run.ended'
      readonly run: string
      readonly ok: boolean
      readonly reason: string
      /** Why the task may be given up by itself. */
      readonly trigger?: Extract<Trigger, 'failure' | 'shutdown'> | undefined
    }
  | { readonly type: 'publish.begun'; readonly owner: Owner }
  | { readonly type: 'publish.done'; readonly branch: string; readonly tip: string }
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
  /** Everything new is on the disk: from here on recovery finishes it. */
  | { readonly type: 'operation.staged'; readonly id: string }
  /** What was staged is about to go again: from here on it is taken back, whatever happens. */
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
      /** Where it moved a branch to: what landed, or what was there before. */
      readonly commit?: string | undefined
      readonly patch: TaskPatch
      /** Paths that somebody changed in the middle of it: theirs stayed. */
      readonly left: readonly string[]
    }
  /** The task was given up without being asked, by that operation: a line in the failure log. */
  | ({ readonly type: 'reverted'; readonly operation?: string | undefined } & AutoRevert)
  /** It was due to be given up by itself, and could not be. */
  | ({ readonly type: 'revert.failed' } & AutoRevert)
  /** The folder of a closed task has left the trash; the vault has what it held. */
  | { readonly type: 'trash.slimmed'; readonly bytes: number }
  /** Recovery or repair has put this right. */
  | { readonly type: 'mended'; readonly what: string }
  /** From here on nothing of it can be undone. */
  | { readonly type: 'expiry.begun' }
  | { readonly type: 'expiry.done' }
  /** The record was lost, and is what the vault knew of it. */
  | { readonly type: 'rebuilt' }
  /** The repository is at another place now, and the task with it. */
  | {
      readonly type: 'moved'
      readonly to: Pick<Task, 'origin' | 'path'> & Partial<Pick<Task, 'shadow'>>
    }

/** What makes a task be given up without anybody asking for it. */
type Trigger = 'failure' | 'shutdown' | 'idle' | 'new task'

export interface AutoRevert {
  readonly trigger: Trigger
  readonly reason: string
}

/** A ref, a file of the config or a hook that has changed. Null: it is not there. */
export interface StrayChange {
  readonly what: string
  readonly before: string | null
  readonly after: string | null
}

/** An event as it was stored: `n` counts within the task from 1, `seq` over all tasks. */
export interface StoredEvent {
  readonly seq: number
  readonly uid: string
  readonly n: number
  readonly at: string
  /** The process that told it. */
  readonly pid?: number | undefined
  readonly event: TaskEvent
}

/**
 * The task after one more event. Total: an event that makes no sense for the task as it is leaves it as it was,
 * so that a log written by a newer version can still be read.
 */
export function reduce(task: Task | undefined, event: TaskEvent, at: string): Task | undefined {
  if (event.type === 'start.begun') {
    return task ?? { ...event.task, state: 'pending', pending: { verb: 'start', owner: event.owner } }
  }
  if (task === undefined) return undefined
  switch (event.type) {
    case 'start.done':
      if (task.pending?.verb !== 'start') return task
      return { ...settled(task), state: 'active', lastActiveAt: at }
    case 'start.undone':
      if (task.pending?.verb !== 'start') return task
      return { ...settled(task), state: 'failed', reason: event.reason, closedAt: at, hidden: true }
    case 'ports.given':
      return { ...task, portBlock: event.portBlock }
    case 'recreate.begun':
      return { ...task, pending: { verb: 'recreate', owner: event.owner } }
    case 'recreate.done':
      return { ...settled(task), lastActiveAt: at }
    case 'recreate.undone':
      return settled(task)
    case 'checkpoint':
      if (event.n <= task.checkpoints) return task
      return {
        ...task,
        ...event.total,
        checkpoints: event.n,
        // What is swept up is not used by anybody.
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
    case 'run.begun':
      return {
        ...without(task, 'reason', 'trigger', 'unkept', 'unreverted', 'wanted'),
        state: 'active',
        agent: event.agent,
        runs: task.runs + 1,
        lastActiveAt: at,
        pending: { verb: 'run', owner: event.owner, run: event.run },
      }
    case 'run.wanted':
      return { ...task, wanted: event.verb }
    case 'run.conversation':
      return { ...task, conversation: { agent: event.agent, id: event.conversation } }
    case 'run.ended':
      // Somebody has given the task up meanwhile.
      if (!isOpen(task)) return ended(task, 'run')
      return {
        ...without(settled(task), 'reason', 'trigger', 'unkept'),
        state: event.ok ? 'completed' : 'failed',
        lastActiveAt: at,
        ...(event.ok ? {} : { reason: event.reason }),
        ...(event.trigger && { trigger: event.trigger }),
      }
    case 'publish.begun':
      return begun(task, { verb: 'publish', owner: event.owner })
    case 'publish.done':
      return { ...without(ended(task, 'publish'), 'unpublished'), head: event.tip }
    case 'publish.undone':
      return { ...ended(task, 'publish'), unpublished: event.reason }
    case 'operation.begun':
      return begun(task, { verb: 'operation', owner: event.owner, operation: event.id, staged: false })
    case 'operation.staged':
      if (task.pending?.verb !== 'operation') return task
      return { ...task, pending: { ...task.pending, staged: true } }
    case 'operation.unstaged':
      if (task.pending?.verb !== 'operation') return task
      return { ...task, pending: { ...task.pending, staged: false } }
    case 'operation.undone':
      return patched(ended(task, 'operation'), event.patch)
    case 'operation.done':
      // Somebody has decided about it, or taken back what was decided: it is not given up for the same reason again.
      return patched({ ...without(ended(task, 'operation'), 'trigger'), lastActiveAt: at }, event.patch)
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

function patched(task: Task, patch: TaskPatch): Task {
  const kept = Object.entries({ ...task, ...patch }).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  const next = Object.fromEntries(kept) as unknown as Task
  // What is closed gives its ports back; should it come back, it is given some anew.
  return isOpen(next) ? next : without(next, 'portBlock')
}

/** A run outlives what happens within it: its mark stays. */
function begun(task: Task, pending: Pending): Task {
  return task.pending?.verb === 'run' ? task : { ...task, pending }
}

function ended(task: Task, verb: Pending['verb']): Task {
  return task.pending?.verb === verb ? settled(task) : task
}

function settled(task: Task): Task {
  return without(task, 'pending')
}

type Passing =
  | 'pending'
  | 'portBlock'
  | 'reason'
  | 'trash'
  | 'trigger'
  | 'unkept'
  | 'unpublished'
  | 'unreverted'
  | 'wanted'

function without(task: Task, ...keys: readonly Passing[]): Task {
  const rest: Partial<Record<keyof Task, unknown>> = { ...task }
  for (const key of keys) delete rest[key]
  return rest as Task
}
