/**
 * The records, as rows: tasks with their log of events, repositories, and notes; implemented by src/store. A store keeps
 * rows and writes them in one transaction, and core/tasks/records.ts decides which rows: see ADR 26
 * (docs/adr/0026-a-thin-asynchronous-store.md) and, for SQLite, ADR 3 (docs/adr/0003-sqlite-store.md).
 */
import type { Appended, Change, Fault, Position } from '../model/change.ts'
import type { StoredEvent, TaskEvent } from '../model/events.ts'
import type { RepoRecord } from '../model/repo.ts'
import type { LoggedEvent } from '../model/seal.ts'
import type { Idling, Task, TaskFilter } from '../model/task.ts'

/** The tasks and their log. A task's repository must be put first; hidden tasks are found by uid only. */
export interface Store {
  /** The open task of that id. */
  findOpenTask(repo: string, id: string): Promise<Task | undefined>
  /** The open task of that id; if there is none, the newest closed one. */
  findTask(repo: string, id: string): Promise<Task | undefined>
  /** The task of that uid, hidden or not. */
  findTaskByUid(uid: string): Promise<Task | undefined>
  /** The open task whose workspace is at that path; if there is none, the newest closed one. */
  findTaskByPath(path: string): Promise<Task | undefined>
  /** The tasks that match, newest first. */
  readTasks(filter: TaskFilter): Promise<Task[]>
  /** How many tasks of a repository are open. */
  countOpenTasks(repo: string): Promise<number>
  /** The open tasks in groups, so that a command can tell in one query whether auto-revert is due for any of them. */
  readIdling(): Promise<Idling[]>
  /** Tasks in the middle of a verb. */
  readPendingTasks(): Promise<Task[]>
  /** Events in the order of the log. A reader that asks again `after` its last one misses none and gets none twice. */
  readEvents(options: {
    after?: number
    uid?: string
    types?: readonly TaskEvent['type'][]
    limit?: number
  }): Promise<StoredEvent[]>
  /** Every entry of the log, with its seal. */
  readLog(): AsyncIterable<LoggedEvent>
  /** The position of the log, with the versions of these tasks or of all, read in one transaction. */
  readPosition(uids?: readonly string[]): Promise<Position>
  /** Writes the whole change durably, or nothing when another writer was faster. */
  append(change: Change): Promise<Appended>
  /** Checks every row, and answers the defects. */
  inspect(): Promise<Fault[]>
}

/** The repositories that offshoot has worked in. */
export interface RepoRecords {
  /** The newest record of a repository that is, or was, at that path. */
  findAt(commonDir: string): Promise<RepoRecord | undefined>
  /** The record of that id. */
  findById(id: string): Promise<RepoRecord | undefined>
  /** All records, oldest first. */
  readAll(): Promise<RepoRecord[]>
  /** Writes the record, in place of an older one of that id. */
  put(repo: RepoRecord): Promise<void>
}

/** Small texts that offshoot keeps for itself. */
export interface Notes {
  /** The note of that key. */
  find(key: string): Promise<string | undefined>
  /** Writes a note, in place of an older one of that key. */
  put(key: string, value: string): Promise<void>
  /** The notes whose key begins with `prefix`, without empty ones. */
  readBelow(prefix: string): Promise<Map<string, string>>
}

/** All records, in one place that is opened and closed as a whole. */
export interface Stores {
  readonly store: Store
  readonly repos: RepoRecords
  readonly notes: Notes
  /** Closes the store; no method may be called afterwards. */
  close(): Promise<void>
}
