export interface Notice {
  readonly at: string
  /** Of what concerns one. */
  readonly task?: string | undefined
  readonly message: string
  /** What takes it back. */
  readonly operation?: string | undefined
}
