/** How far a checkout has come. */
export interface Progress {
  readonly percent: number
  readonly files: number
  readonly total: number
}

/** Is told only of what takes longer than a second. */
export type OnProgress = (progress: Progress) => void
