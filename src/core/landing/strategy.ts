/** The interface that every landing strategy implements (docs/adr/0027-landing-strategies.md). */
import type { Work } from '../tasks/work.ts'
import type { Operation } from '../model/operation.ts'
import type { Conflict } from '../model/tree.ts'
import type { RefChange } from '../model/git.ts'
import type { Repo } from '../model/repo.ts'
import type { Goal } from '../operations/shadow.ts'
import type { StrategyFacts } from '../model/strategies.ts'
import type { Offer } from './offer.ts'

export interface LandingInput {
  /** The branch to land on; left out: the one that the task was started from. */
  readonly onto?: string | undefined
  readonly message?: string | undefined
  readonly conflicts?: 'fail' | 'markers' | undefined
  /** Leaves the task open. */
  readonly keep?: boolean | undefined
  /** Runs the git hooks of the user's repository. */
  readonly hooks?: boolean | undefined
  readonly dryRun?: boolean | undefined
}

/** All that a strategy is given for one landing. */
export interface LandingWork extends Work {
  /** Its `place` is the checkout that the work lands in. */
  readonly repo: Repo
  readonly offer: Offer
  readonly input: LandingInput
}

/** Where the work is when it has landed. */
export interface LandedAt {
  readonly onto?: string
  readonly commit?: string
  readonly url?: string
}

/** The planned changes of the target, or the conflicts that prevent them. */
export interface Landing extends Pick<Operation, 'files' | 'index' | 'head'> {
  readonly conflicts: readonly Conflict[]
  /** Conflicts that the landing writes into the files as markers, for the user to solve. */
  readonly marked?: readonly Conflict[] | undefined
  readonly refs: readonly RefChange[]
  readonly onto?: string | undefined
  /** The tree of the branch afterwards, for a task on a shadow branch. */
  readonly goal?: Goal | undefined
  readonly landed: LandedAt
  /** Changes another machine, before anything is changed here; this cannot be undone. */
  readonly send?: () => Promise<LandedAt>
  /** Runs after the landing, and cannot fail it. */
  readonly after?: () => Promise<void>
}

/** The changes of the task itself, in the same operation. */
export type Ending = Pick<Operation, 'refs' | 'workspace' | 'record'>

/** One strategy: a record that accept asks, whatever its name. */
export interface LandingStrategy<Name extends string = string> extends StrategyFacts {
  readonly name: Name
  /** The part of the offer that this strategy can land; the rest stays to be landed. Left out: it can land all. */
  readonly fit?: ((work: LandingWork) => Promise<Offer>) | undefined
  /** Reads, merges and decides. Changes no file, index or branch of the user; the operation does that later. */
  plan(work: LandingWork): Promise<Landing>
  /** Decides whether the task is closed, and with which record. */
  close(work: LandingWork): Promise<Ending>
}
