/** How far a verb has come, and how work over many files is followed and ended. */

/** What a verb does at the moment: git checks files out; we read, check, stage, write or copy them, or prune tasks. */
export const phases = ['making', 'reading', 'checking', 'staging', 'writing', 'copying', 'pruning'] as const
export type Phase = (typeof phases)[number]

/** How many files of a phase are done; of `pruning`, how many tasks. */
export interface Progress {
  readonly phase: Phase
  readonly percent: number
  readonly files: number
  readonly total: number
}

/** Is called only for a verb that takes longer than a second. */
export type OnProgress = (progress: Progress) => void

/** Follows one phase: its caller can cancel it, and counts its files. */
export interface Follow {
  readonly signal?: AbortSignal | undefined
  /** Is told how many files there are; what it answers is called after each of them. */
  readonly count?: ((total: number) => () => void) | undefined
}
