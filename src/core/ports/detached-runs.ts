/** Runs that go on in a process of their own; implemented by src/process. */

/** One line that the process of a run has written: an event, or the answer at its end. */
export type LogLine = Readonly<Record<string, unknown>>

interface DetachedCall {
  /** The words after `offshoot`. */
  readonly words: readonly string[]
  /** Is written to stdin. */
  readonly prompt?: string | undefined
  readonly dir: string
  /** The file that it appends what it tells to. */
  readonly log: string
  /** Variables besides those of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Also waits while the run waits for a place. */
  readonly waits?: boolean | undefined
}

/** Starts and follows runs that outlive the process which asked for them. */
export interface DetachedRuns {
  /**
   * Starts the command outside of the terminal's session. Resolves when the run has begun, waits for a place, or has failed
   * before.
   */
  start(call: DetachedCall, signal?: AbortSignal): Promise<{ readonly pid: number; readonly first: LogLine }>
  /** The place in the log where the last run begins, in bytes; undefined when that run has ended. */
  findOpen(log: string): number | undefined
  /**
   * Hands each line from that place on to `take`, until `take` returns true or the run's last line comes, and answers that
   * line. Undefined when the process that writes the log is gone.
   */
  follow(
    log: string,
    from: number,
    take: (line: LogLine) => boolean | void,
    isWritten: () => Promise<boolean>,
    signal?: AbortSignal,
  ): Promise<LogLine | undefined>
}
