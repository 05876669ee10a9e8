/** Locks across processes; implemented by src/lock (docs/adr/0004-locks-by-open-transaction.md). */

export interface LockOptions {
  /** Named to the processes that wait. */
  readonly verb: string
  /** How long to wait for the present holder; 0 tries once. */
  readonly waitMs?: number
  readonly signal?: AbortSignal | undefined
}

/** The kernel releases a lock when its holder dies, so no lock is ever stale. */
export interface Locks {
  /** Runs `work` while holding the lock. Throws `locked`, naming the holder, when the wait is over. */
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
