/**
 * The records, as rows: tasks with their log of events, repositories, and notes. A store keeps rows and writes them in
 * one transaction; core/tasks/records.ts decides which rows. docs/adr/0026-a-thin-asynchronous-store.md tells why.
 */
import type { LoggedEvent } from '../chain.ts'
import type { StoredEvent, TaskEvent } from '../events.ts'
import type { Task } from '../task.ts'

export interface RepoRecord {
  readonly id: string
  /** Its folder name in the state folder. */
  readonly name: string
  readonly commonDir: string
  /** The object that `refs/offshoot/repo` points at. */
  readonly mark: string
  readonly addedAt: string
}

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

/** Where the log stands. */
export interface Position {
  /** The number of the last entry that was ever written; 0 before the first. Numbers have no gap. */
  readonly seq: number
  /** The seal of the last entry that is there. */
  readonly seal: string
  /** How many entries a task has by its own record. A task without a record is not in it. */
  readonly versions: ReadonlyMap<string, number>
}

/** The record of a task as it shall be. */
export interface TaskChange {
  readonly task: Task
  /** How many entries its record counts now: 0 when there is no record. */
  readonly from: number
  /** How many entries its record counts then. */
  readonly to: number
}

/** Rows that are written together or not at all. */
export interface Change {
  /** The last entry that the writer has seen. */
  readonly after: Pick<Position, 'seq' | 'seal'>
  /** They are numbered from `after.seq + 1` on, in this order. */
  readonly entries: readonly Omit<LoggedEvent, 'seq'>[]
  /** In the order in which they are to be written. */
  readonly tasks: readonly TaskChange[]
}

/**
 * `stale`: the log does not end with `after` any more, or a task has not `from` entries. `taken`: another open task of
 * the repository has an id that differs in upper and lower case at most. Either way nothing was written.
 */
type Appended = 'done' | 'stale' | 'taken'

/** One thing that is wrong with the records, in words. */
export interface Fault {
  readonly what: string
  /** The task whose record cannot be read, where nothing else is wrong with it: its events can make it again. */
  readonly uid?: string
}

/** The tasks and their log. A task's repository must be put first; hidden tasks are found by uid only. */
export interface Store {
  findOpenTask(repo: string, id: string): Promise<Task | undefined>
  /** The newest task of that id, open or closed. */
  findTask(repo: string, id: string): Promise<Task | undefined>
  findTaskByUid(uid: string): Promise<Task | undefined>
  findTaskByPath(path: string): Promise<Task | undefined>
  /** Newest first. */
  readTasks(filter: TaskFilter): Promise<Task[]>
  countOpenTasks(repo: string): Promise<number>
  /** What there is to know of the open tasks before a command, however many they are. */
  readIdling(): Promise<Idling[]>
  /** Tasks in the middle of a verb. */
  readPendingTasks(): Promise<Task[]>
  /** In the order of the log. A reader that asks again `after` the last one it got misses none and gets none twice. */
  readEvents(options: {
    after?: number
    uid?: string
    types?: readonly TaskEvent['type'][]
    limit?: number
  }): Promise<StoredEvent[]>
  /** The log as it lies there, entry by entry. */
  readLog(): AsyncIterable<LoggedEvent>
  /** With the versions of these tasks, or of all; the whole answer is of one moment. */
  readPosition(uids?: readonly string[]): Promise<Position>
  /** Writes the whole change, durably, if nobody else was faster. */
  append(change: Change): Promise<Appended>
  /** Looks at every row. */
  inspect(): Promise<Fault[]>
}

/** The repositories that offshoot has worked in. */
export interface RepoRecords {
  /** The newest that is, or was, in that place. */
  findAt(commonDir: string): Promise<RepoRecord | undefined>
  findById(id: string): Promise<RepoRecord | undefined>
  /** Oldest first. */
  readAll(): Promise<RepoRecord[]>
  /** Replaces the record of that id. */
  put(repo: RepoRecord): Promise<void>
}

/** Small texts that offshoot keeps for itself. */
export interface Notes {
  find(key: string): Promise<string | undefined>
  put(key: string, value: string): Promise<void>
  /** The notes whose key begins so, but for empty ones. */
  readBelow(prefix: string): Promise<Map<string, string>>
}

/** All records, in one place that is opened and closed as a whole. */
export interface Stores {
  readonly store: Store
  readonly repos: RepoRecords
  readonly notes: Notes
  close(): Promise<void>
}
