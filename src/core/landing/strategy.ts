/** A way to land the work of a task: the port that every strategy implements. See docs/adr/0027-landing-strategies.md. */
import type { Operation } from '../model/operation.ts'
import type { Conflict } from '../model/tree.ts'
import type { Ports } from '../ports/index.ts'
import type { RefChange } from '../model/git.ts'
import type { Repo } from '../model/repo.ts'
import type { Goal } from '../operations/shadow.ts'
import type { StrategyFacts } from '../model/strategies.ts'
import type { Task } from '../model/task.ts'
import type { Offer } from './offer.ts'

export interface LandingInput {
  /** The branch that it lands on; left out: the one that the task was started from. */
  readonly onto?: string | undefined
  readonly message?: string | undefined
  readonly conflicts?: 'fail' | 'markers' | undefined
  /** The task stays open. */
  readonly keep?: boolean | undefined
  /** The git hooks of the user's repository run. */
  readonly hooks?: boolean | undefined
  readonly dryRun?: boolean | undefined
}

/** One landing in hand. */
export interface LandingWork {
  readonly ports: Ports
  /** With the checkout that the work lands in as its place. */
  readonly repo: Repo
  readonly task: Task
  readonly offer: Offer
  readonly input: LandingInput
  readonly signal: AbortSignal | undefined
}

/** Where the work is when it has landed. */
export interface LandedAt {
  readonly onto?: string
  readonly commit?: string
  readonly url?: string
}

/** What an accept would do to the target, or why it cannot. */
export interface Landing extends Pick<Operation, 'files' | 'index' | 'head'> {
  readonly conflicts: readonly Conflict[]
  /** Conflicts that it would write into the files as markers, for the user to solve. */
  readonly marked?: readonly Conflict[] | undefined
  readonly refs: readonly RefChange[]
  readonly onto?: string | undefined
  /** What the branch will hold: for a task that works in the checkout of that branch. */
  readonly goal?: Goal | undefined
  readonly landed: LandedAt
  /** What is done elsewhere, before anything is done here; that cannot be undone. */
  readonly send?: () => Promise<LandedAt>
  /** What follows when it has landed, and can no longer fail it. */
  readonly after?: () => Promise<void>
}

/** What becomes of the task, in the same operation. */
export type Ending = Pick<Operation, 'refs' | 'workspace' | 'record'>

export interface LandingStrategy<Name extends string = string> extends StrategyFacts {
  readonly name: Name
  /** The part of the offer that has a place where it lands; the rest stays to be landed. Left out: all of it has. */
  readonly fit?: ((work: LandingWork) => Promise<Offer>) | undefined
  /** Reads, merges, and decides. Nothing that the user has is changed before the operation. */
  plan(work: LandingWork): Promise<Landing>
  close(work: LandingWork): Promise<Ending>
}
