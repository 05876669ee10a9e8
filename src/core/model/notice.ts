/** A line that tells the user, once, of something that happened by itself. */
export interface Notice {
  readonly at: string
  /** The id of the task that it is about, if it is about one. */
  readonly task?: string | undefined
  readonly message: string
  /** The operation that `undo` can take back. */
  readonly operation?: string | undefined
}
