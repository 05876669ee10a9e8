/** One bug, planted on purpose. */
export interface Mutant {
  readonly name: string
  /** A file of the sources. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** Test files, as vitest takes them: one of them must fail. As narrow as possible, since each runs alone. */
  readonly suites: readonly string[]
}
