/** One write to the records: the position of the log, and the new rows (docs/adr/0026-a-thin-asynchronous-store.md). */
import type { LoggedEvent } from './seal.ts'
import type { Task } from './task.ts'

/** Where the log stands. */
export interface Position {
  /** The number of the last entry that was ever written; 0 before the first. Numbers have no gap. */
  readonly seq: number
  /** The seal of the last entry that the log has now. */
  readonly seal: string
  /** How many entries each task has by its own record, by uid. A task without a record is left out. */
  readonly versions: ReadonlyMap<string, number>
}

/** The new record of a task. */
export interface TaskChange {
  readonly task: Task
  /** How many entries the old record counts: 0 when there is no record. */
  readonly from: number
  /** How many entries the new record counts. */
  readonly to: number
}

/**
 * Rows that are written together or not at all. Example, the first step of a task whose record counts 2 entries:
 * `{after: {seq: 41, seal: 'ab…'}, entries: [{uid: 'u1', n: 3, type: 'checkpoint', …}], tasks: [{task, from: 2, to: 3}]}`.
 */
export interface Change {
  /** The last entry that the writer has seen. */
  readonly after: Pick<Position, 'seq' | 'seal'>
  /** New entries of the log. The store numbers them from `after.seq + 1` on, in this order. */
  readonly entries: readonly Omit<LoggedEvent, 'seq'>[]
  /** New records, in the order in which the store writes them. */
  readonly tasks: readonly TaskChange[]
}

/**
 * `stale`: the log no longer ends with `after`, or the record of a task does not count `from` entries. `taken`: another
 * open task of the repository has the same id, ignoring case. Either way nothing was written.
 */
export type Appended = 'done' | 'stale' | 'taken'

/** One defect of the records, in words. */
export interface Fault {
  readonly what: string
  /** The task whose record cannot be read, when its events are fine: the record can be made again from them. */
  readonly uid?: string
}
