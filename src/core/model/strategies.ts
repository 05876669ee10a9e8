/**
 * The landing strategies as the doors show them. Their code is in landing/, and no door loads it to show this table
 * (docs/adr/0027-landing-strategies.md).
 */

/** The options of a landing; each strategy takes some of them. */
export const landingOptions = ['part', 'onto', 'message', 'conflicts', 'keep', 'hooks'] as const
export type LandingOption = (typeof landingOptions)[number]

export interface StrategyFacts {
  /** Continues the name: `squash` `makes one commit on a branch`. */
  readonly summary: string
  readonly lands: 'files' | 'commit' | 'branch'
  /** The options that it takes; it refuses all others. */
  readonly takes: readonly LandingOption[]
  /** Hands every step and every commit of the agent's on, not only the last state: as they are, or as commits of the user's. */
  readonly history?: 'kept' | 'remade' | undefined
  /** Why it cannot be undone, for a landing that reaches other people. */
  readonly final?: string | undefined
}

const commitOptions = ['part', 'onto', 'message', 'keep', 'hooks'] as const

const table = {
  patch: {
    summary: 'leaves uncommitted changes in your files',
    lands: 'files',
    takes: ['part', 'conflicts', 'keep'],
  },
  squash: { summary: 'makes one commit on a branch', lands: 'commit', takes: commitOptions },
  merge: {
    summary: 'makes a merge commit on a branch',
    lands: 'commit',
    history: 'kept',
    takes: commitOptions,
  },
  rebase: {
    summary: 'makes a commit of each step on a branch',
    lands: 'commit',
    history: 'remade',
    takes: commitOptions,
  },
  'keep-branch': {
    summary: 'closes the task and leaves all of its work on its branch',
    lands: 'branch',
    history: 'kept',
    takes: [],
  },
  pr: {
    summary: 'pushes all of the work on its branch and opens a pull request',
    lands: 'branch',
    history: 'kept',
    takes: ['onto', 'message', 'keep', 'hooks'],
    final: 'a pull request was opened',
  },
} as const satisfies Record<string, StrategyFacts>

export type Strategy = keyof typeof table
export const strategyFacts: Readonly<Record<Strategy, StrategyFacts>> = table
export const strategies = Object.keys(table) as readonly Strategy[]
