import type { Canary } from '../../support/canary.ts'

export type Isolation = 'worktree' | 'clone'

/** Something that an agent does to its workspace, clumsily or in bad faith. */
export interface Action {
  /** Completes "an agent that …". */
  readonly name: string
  /**
   * For bash, in the workspace. SPACE is the workspace; COMMON and GITDIR the git folders that it can reach: the
   * user's in a worktree, its own in a clone. USERS is the user's checkout, OTHER another repository of the user's, OUTSIDE a folder of theirs,
   * CANARY a command that leaves a trace.
   */
  readonly script: string
  /** What the user did in their repository before the task was started; for bash. */
  readonly before?: string
  /** Goes on while the step is taken; for bash. */
  readonly meanwhile?: string
  /** Paths that the step has to name as not taken. */
  readonly skipped?: readonly string[]
  /** The same, of a user who is not root and cannot read everything. */
  readonly unreadable?: readonly string[]
  /** Paths that the checkpoint has to name as ignored. */
  readonly ignored?: readonly string[]
  /** A file that is being written while it is read: any of its states will do. */
  readonly moving?: string
  /** A command that makes the canary sing, to prove that it would have; for bash, in the workspace. */
  readonly sings?: string
  /** The oldest git that knows what was planted. */
  readonly since?: string
  readonly only?: Isolation
  /** Long after the last step, so that files are known by their looks. */
  readonly later?: true
}

/** The places that an action knows of. */
export interface CorpusFixture {
  readonly repo: string
  readonly space: string
  readonly other: string
  readonly outside: string
  readonly canary: Canary
}
