export interface LockOptions {
  readonly verb: string
  /** How long to wait for the present holder; 0 asks once. */
  readonly waitMs?: number
  readonly signal?: AbortSignal | undefined
}

/** Locks across processes that the kernel releases when their holder dies. */
export interface Locks {
  /** Runs `work` alone under that name. Throws `locked`, naming the holder, when the wait was in vain. */
  hold<T>(name: string, options: LockOptions, work: () => Promise<T>): Promise<T>
}
