/** How many files git has checked out so far. */
export interface Progress {
  readonly percent: number
  readonly files: number
  readonly total: number
}

/** Is called only for a checkout that takes longer than a second. */
export type OnProgress = (progress: Progress) => void
