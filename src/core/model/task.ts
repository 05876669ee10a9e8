/** A task: one isolated line of work, its record, and the names of its locks. */
import type { Isolation, TaskState } from './enums.ts'
import type { Metadata, QueuedRun } from './queue.ts'
import type { RunRecord } from './run-record.ts'
import type { Totals, Usage } from './usage.ts'

export interface TaskFilter {
  readonly repo?: string
  /** true: only open ones; false: only closed ones; left out: all. */
  readonly open?: boolean
  readonly limit?: number
}

/** A group of open tasks for which auto-revert has the same conditions. */
export interface Idling extends Pick<Task, 'repo' | 'origin' | 'trigger'> {
  readonly shadow: boolean
  /** The last use of the task in the group that has been idle for the longest. */
  readonly lastActiveAt: string
}

/** The process in the middle of a verb. Start time and boot id tell it from a later process with the same pid. */
export interface Owner {
  readonly pid: number
  readonly startedAt: string
  readonly boot: string
}

/** A run that has begun and not yet ended. */
export interface RunMark {
  readonly owner: Owner
  readonly run: string
  /** The agent, or the command: what is at work. */
  readonly name?: string | undefined
  /** Of a command of the user's own, which works beside others: the number of its lock, from 1. */
  readonly exec?: number | undefined
  /** When it began; unknown of a run that an older offshoot began. */
  readonly at?: string | undefined
}

/** A verb that has begun and not yet ended; recovery finishes it or rolls it back. */
export type Pending =
  | { readonly verb: 'start'; readonly owner: Owner }
  | { readonly verb: 'recreate'; readonly owner: Owner }
  | ({
      readonly verb: 'run'
      /** The other runs of the task that are under way, in the order in which they began. */
      readonly beside?: readonly RunMark[]
    } & RunMark)
  | { readonly verb: 'publish'; readonly owner: Owner }
  | {
      readonly verb: 'operation'
      readonly owner: Owner
      readonly operation: string
      readonly staged: boolean
    }

/** The record of a task. Its key is `uid`, because an `id` can be used again once its task is closed. */
export interface Task {
  readonly uid: string
  readonly repo: string
  readonly id: string
  readonly title: string
  readonly state: TaskState
  readonly isolation: Isolation
  readonly path: string
  readonly branch: string
  /** The branch existed before the task: offshoot never moves or deletes it. */
  readonly adopted: boolean
  readonly base: { readonly branch: string | null; readonly commit: string }
  /** The checkout that the task was started in. */
  readonly origin: string
  readonly head: string
  readonly checkpoints: number
  readonly files: number
  readonly insertions: number
  readonly deletions: number
  readonly runs: number
  readonly agent?: string
  /** The agent's own id of its conversation, so that the next run goes on with it. */
  readonly conversation?: {
    readonly agent: string
    readonly id: string
    /** What it had used when an agent last told totals of it. */
    readonly used?: Totals
  }
  /** The last run of an agent. */
  readonly lastRun?: RunRecord
  /** What all runs of agents took together. */
  readonly usage?: Partial<Usage> & { readonly seconds: number }
  /** The verb that the agent called in its last run although only the user may use it. */
  readonly wanted?: string
  /** The question of the agent that nobody has answered yet. */
  readonly asks?: AskedQuestion
  /** How many tool calls were denied in its last run. */
  readonly denied?: number
  /** How many messages the user has sent that no agent has been given yet. */
  readonly unheard?: number
  /** The runs that wait for their turn, in the order in which they came. */
  readonly queued?: readonly QueuedRun[]
  /** What the program that queued a run noted about the task. */
  readonly metadata?: Metadata
  /** The last tool call that was allowed, step that was taken, or command that was begun. */
  readonly lastCall?: LastCall
  readonly createdAt: string
  readonly lastActiveAt: string
  /** Shared by sibling tasks, which were made from the same base to do the same. */
  readonly group?: string
  readonly closedAt?: string
  /** The verb that closed it, or `auto-revert`. */
  readonly closedBy?: string
  readonly reason?: string
  readonly pending?: Pending
  /** Why auto-revert may reject it, since its last run ended. */
  readonly trigger?: 'failure' | 'shutdown'
  /** Its state is `failed` because its last step could not be kept. */
  readonly unkept?: true
  /** Why auto-revert failed to reject it. */
  readonly unreverted?: string
  /** Why the last steps are not on the branch. */
  readonly unpublished?: string
  /** Which commits of the agent's own are not on the branch, and where they are. */
  readonly leftOut?: string
  /** The folder in the trash that holds the workspace. */
  readonly trash?: string
  /** The part of the work that has landed, when only a part has. */
  readonly landed?: Landed
  /** Of a task in the user's own checkout: its git folder, and the operation that put the user's own changes away. */
  readonly shadow?: { readonly gitDir: string; readonly operation: string }
  /** The network ports that its servers may use, while it is open. */
  readonly portBlock?: PortBlock
  /** The task is about to be deleted for good, or is; nothing of it can be undone. */
  readonly expiry?: 'begun' | 'done'
  /** Never listed: a start that was rolled back, or a task that was deleted. */
  readonly hidden?: boolean
}

/** A task as reading verbs show it; what only a look tells is in no record. */
export interface ShownTask extends Task {
  /** Of a stale task: the state in its record. */
  readonly was?: TaskState
}

/** What a task was last seen to do: `Bash`, `npm test`. */
export interface LastCall {
  readonly tool: string
  readonly summary: string
}

/** A question of an agent that waits for an answer, in short. */
export interface AskedQuestion {
  readonly question: string
  readonly run: string
  readonly tool: string
  readonly summary: string
  readonly reason: string
  /** The hash of all that the tool would be given. */
  readonly inputHash: string
  /** When it was asked, and until when it waits. */
  readonly at: string
  readonly until: string
}

/** Consecutive network ports: `{first: 20010, count: 10}` is 20010 to 20019. */
export interface PortBlock {
  readonly first: number
  readonly count: number
  /** No program listened on them before the first command of the task. */
  readonly checked?: true
}

/** The tree with the landed part, and the tree that the workspace was based on then. */
interface Landed {
  readonly tree: string
  readonly basis: string
}

/** Fields of the record that an operation changes; null deletes one. */
export interface TaskPatch {
  readonly state?: TaskState | undefined
  readonly closedAt?: string | null | undefined
  readonly closedBy?: string | null | undefined
  readonly trash?: string | null | undefined
  readonly hidden?: boolean | undefined
  /** The landed part, which is the base of the next accept. */
  readonly landed?: Landed | null | undefined
}

const closedStates: ReadonlySet<TaskState> = new Set(['accepted', 'rejected', 'kept'])

export function isOpen(task: Task): boolean {
  return !task.hidden && !closedStates.has(task.state)
}

/** The lock that a verb holds to change the task. Lower case: on some systems `T1` and `t1` are the same folder. */
export function taskLock(repo: string, id: string): string {
  return `task ${repo} ${id.toLowerCase()}`
}

/**
 * The lock that a run holds for as long as it lives: a process that can take it knows that the run is dead. The agents of a
 * task share one, so that one works at a time; each command beside them has its own
 * (docs/adr/0056-several-at-work-in-one-workspace.md).
 */
export function runLock(uid: string, { exec }: Pick<RunMark, 'exec'> = {}): string {
  return exec === undefined ? `run ${uid}` : `run ${uid} ${exec}`
}

/** The runs of the task that are under way, oldest first. */
export function runsOf({ pending }: Pick<Task, 'pending'>): readonly RunMark[] {
  if (pending?.verb !== 'run') return []
  const { verb: _, beside = [], ...first } = pending
  return [first, ...beside]
}

/** The mark of these runs; undefined for none. */
export function runsPending([first, ...beside]: readonly RunMark[]): Pending | undefined {
  return first && { verb: 'run', ...first, ...(beside.length > 0 && { beside }) }
}

/** `claude and npm test`: what is at work, for a sentence. */
export function atWork(runs: readonly RunMark[]): { readonly who: string; readonly are: 'is' | 'are' } {
  const names = [...new Set(runs.map(({ name = 'An agent' }) => name))]
  const last = names.at(-1) ?? 'An agent'
  const who = names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${last}` : last
  return { who, are: names.length > 1 ? 'are' : 'is' }
}

/** A name for a database or a compose project that no other task has, such as `fix_login_3k9z1a`; it never changes. */
export function slugOf({ id, uid }: Pick<Task, 'id' | 'uid'>): string {
  const words = id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  return (
    `${/^[a-z]/.test(words) ? words : `t_${words}`}`.slice(0, 40).replace(/_+$/, '') + `_${uid.slice(0, 6)}`
  )
}

export function portsOf({ first, count }: PortBlock): number[] {
  return Array.from({ length: count }, (_, n) => first + n)
}
