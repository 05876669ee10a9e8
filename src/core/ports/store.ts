/**
 * The records, as rows: tasks with their log of events, repositories, and notes. A store keeps rows and writes them in
 * one transaction; core/tasks/records.ts decides which rows. docs/adr/0026-a-thin-asynchronous-store.md tells why.
 */
import type { Appended, Change, Fault, Position } from '../model/change.ts'
import type { StoredEvent, TaskEvent } from '../model/events.ts'
import type { RepoRecord } from '../model/repo.ts'
import type { LoggedEvent } from '../model/seal.ts'
import type { Idling, Task, TaskFilter } from '../model/task.ts'

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
