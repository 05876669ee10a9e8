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
  /** Words of the names of tests in these files: for each of them a test with it in its name must fail. */
  readonly breaks?: readonly string[]
}
