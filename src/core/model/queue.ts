/** A run that waits for its turn in the queue of the daemon (docs/adr/0065-the-queue-is-in-the-log.md). */
export interface QueuedRun {
  /** The id of its place in the queue; the run gets its own when it begins. */
  readonly entry: string
  /** The agent, or the command. */
  readonly agent: string
  /** The prompt or the command line, in short. */
  readonly what: string
  /** A higher one starts first. */
  readonly priority: number
  readonly at: string
}

/** How far a priority may go in either direction. */
export const highestPriority = 100

/** What the user knows of a task and offshoot only keeps. */
export type Metadata = Readonly<Record<string, unknown>>

/** The variable that tells the process of a run which place in the queue it is for. */
export const entryVariable = 'OFFSHOOT_INTERNAL_ENTRY'
