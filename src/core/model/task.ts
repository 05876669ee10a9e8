import type { Isolation, TaskState } from './enums.ts'

export interface TaskFilter {
  readonly repo?: string
  /** true: only open ones; false: only closed ones; left out: all. */
  readonly open?: boolean
  readonly limit?: number
}

/** Open tasks that are given up by themselves under the same conditions. */
export interface Idling extends Pick<Task, 'repo' | 'origin' | 'trigger'> {
  readonly shadow: boolean
  /** When the one of them was used that nobody has used for the longest. */
  readonly lastActiveAt: string
}

/** Which process is in the middle of a verb. The boot id and start time make a recycled pid a different owner. */
export interface Owner {
  readonly pid: number
  readonly startedAt: string
  readonly boot: string
}

/** A verb that has begun and not yet ended; recovery finishes it or rolls it back. */
export type Pending =
  | { readonly verb: 'start'; readonly owner: Owner }
  | { readonly verb: 'recreate'; readonly owner: Owner }
  | { readonly verb: 'run'; readonly owner: Owner; readonly run: string }
  | { readonly verb: 'publish'; readonly owner: Owner }
  | {
      readonly verb: 'operation'
      readonly owner: Owner
      readonly operation: string
      readonly staged: boolean
    }

/** One isolated line of work. Keyed by `uid`, because ids recur once a task is closed. */
export interface Task {
  readonly uid: string
  readonly repo: string
  readonly id: string
  readonly title: string
  readonly state: TaskState
  readonly isolation: Isolation
  readonly path: string
  readonly branch: string
  /** The branch was there before the task: it is never moved or deleted by us. */
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
  /** What the agent itself calls its conversation, so that a follow-up goes on with it. */
  readonly conversation?: { readonly agent: string; readonly id: string }
  /** What the agent wanted in its last run, and only the user may do. */
  readonly wanted?: string
  readonly createdAt: string
  readonly lastActiveAt: string
  /** Its siblings, made to do the same from the same base, have the same. */
  readonly group?: string
  readonly closedAt?: string
  readonly reason?: string
  readonly pending?: Pending
  /** Why it may be given up by itself, since its last run ended. */
  readonly trigger?: 'failure' | 'shutdown'
  /** It has failed because its last step could not be kept. */
  readonly unkept?: true
  /** Why giving it up by itself was in vain. */
  readonly unreverted?: string
  /** Why the last steps are not on the branch. */
  readonly unpublished?: string
  /** Where the workspace went when it was removed. */
  readonly trash?: string
  /** What has landed so far, when that was not all. */
  readonly landed?: Landed
  /** Of a task in the user's own checkout: its git folder, and the operation that put their own changes away. */
  readonly shadow?: { readonly gitDir: string; readonly operation: string }
  /** The ports that its servers may listen on, while it is open. */
  readonly portBlock?: PortBlock
  /** Closed for so long that nothing of it can be undone: about to go, or gone. */
  readonly expiry?: 'begun' | 'done'
  /** Never shown: a start that was rolled back, or a task that was deleted. */
  readonly hidden?: boolean
}

/** So many ports in a row. */
export interface PortBlock {
  readonly first: number
  readonly count: number
  /** Nobody listened there before the first command of the task. */
  readonly checked?: true
}

/** A part that has landed: the tree of it, and what the workspace was based on at the time. */
interface Landed {
  readonly tree: string
  readonly basis: string
}

/** What an operation changes of the record; null takes the value away. */
export interface TaskPatch {
  readonly state?: TaskState | undefined
  readonly closedAt?: string | null | undefined
  readonly trash?: string | null | undefined
  readonly hidden?: boolean | undefined
  /** What has landed so far: the base of the next accept. */
  readonly landed?: Landed | null | undefined
}

const closedStates: ReadonlySet<TaskState> = new Set(['accepted', 'rejected', 'kept'])

export function isOpen(task: Task): boolean {
  return !task.hidden && !closedStates.has(task.state)
}

/** One writer per task. Ids that differ only in case are the same folder on some systems. */
export function taskLock(repo: string, id: string): string {
  return `task ${repo} ${id.toLowerCase()}`
}

/** Held for as long as a run lives: whoever gets it knows that the run is dead. */
export function runLock(uid: string): string {
  return `run ${uid}`
}

/** A name for a database or a compose project: of this task alone, the same for as long as it lives. */
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
