/** Decides what a publish does with the commits that it finds beside the steps. Pure. */
import type { Line } from './published.ts'

/** The commits that a publish finds; several may be the same. */
export interface Heads {
  /** The branch of the task in the user's repository. */
  readonly branch: string | undefined
  /** That branch in the workspace: a clone has its own. */
  readonly workspace: string | undefined
  /** A commit of the agent's that no ref of the user's repository reaches. */
  readonly stray: string | undefined
}

/** How a head stands to the steps: it lacks objects or git refuses some, the steps are on top of it, or it is beside them. */
export type Standing = 'lacking' | 'below' | 'beside'

export interface Gathered {
  readonly base: string
  /** The commit of the last step, whether it was published or not; undefined before the first step. */
  readonly tip: Line | undefined
  /** The commit that was published last. */
  readonly last: string | undefined
  readonly heads: Heads
  /** Of every head but `last`, which is below each later step. */
  readonly standings: ReadonlyMap<string, Standing>
}

export type JoinPlan =
  /** There is no step to publish. */
  | { readonly kind: 'none'; readonly tip: string }
  /** Every head is at the last step. */
  | { readonly kind: 'settled'; readonly tip: string }
  | Move

export interface Move {
  readonly kind: 'move'
  /** The last step, or where there is a join one of its parents. */
  readonly tip: Line
  /** The commits that a merge commit joins with the steps; if there are none, no merge commit is made. */
  readonly join: readonly string[]
  /** Commits of which the user's repository has every object. */
  readonly known: readonly string[]
}

export function joinPlan({ base, tip, last, heads, standings }: Gathered): JoinPlan {
  const { branch, workspace, stray } = heads
  if (!tip) return { kind: 'none', tip: branch ?? base }
  const isThere = [last, branch, workspace].every((commit) => commit === tip.commit)
  if (isThere && stray === undefined) return { kind: 'settled', tip: tip.commit }
  const join = distinct(heads).filter((head) => standings.get(head) === 'beside')
  // The agent's commits may lack objects, or hold some that git refuses. They must not stop the steps.
  const isKnown = branch !== undefined && standings.get(branch) !== 'lacking'
  return { kind: 'move', tip, join, known: isKnown ? [base, branch] : [base] }
}

/** Each head once, in the order in which a merge commit names them. */
export function distinct({ branch, workspace, stray }: Heads): string[] {
  return [...new Set([branch, workspace, stray])].filter((head) => head !== undefined)
}
