import type { LoggedEvent } from './seal.ts'
import type { Task } from './task.ts'

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
export type Appended = 'done' | 'stale' | 'taken'

/** One thing that is wrong with the records, in words. */
export interface Fault {
  readonly what: string
  /** The task whose record cannot be read, where nothing else is wrong with it: its events can make it again. */
  readonly uid?: string
}
