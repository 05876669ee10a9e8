/** The port to the locks by which the processes of one machine take turns. See docs/adr/0004-locks-by-open-transaction.md. */

export interface LockOptions {
  /** Named to the processes that wait. */
  readonly verb: string
  /** How long to wait for the present holder; 0 asks once. */
  readonly waitMs?: number
  readonly signal?: AbortSignal | undefined
}

/** Locks across processes that the kernel releases when their holder dies. */
export interface Locks {
  /** Runs `work` alone under that name. Throws `locked`, naming the holder, if the lock is still held after the wait. */
  hold<T>(name: string, options: LockOptions, work: () => Promise<T>): Promise<T>
  /**
   * The same for callers that have something else to do while another process holds the lock: answers `busy`, without
   * having run `work`. Asks once, unless `waitMs` says longer.
   */
  tryHold<T>(
    name: string,
    options: LockOptions,
    work: () => Promise<T>,
  ): Promise<'busy' | { readonly value: T }>
}
