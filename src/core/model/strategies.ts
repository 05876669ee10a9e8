/** The ways to land a task's work, as the doors show them. The code of each is in landing/, and is not loaded for this. */

/** What a user may ask of a landing, where its strategy has a place for it. */
export const landingOptions = ['part', 'onto', 'message', 'conflicts', 'keep', 'hooks'] as const
export type LandingOption = (typeof landingOptions)[number]

export interface StrategyFacts {
  /** Goes on after the name, as in `squash makes one commit on a branch`. */
  readonly summary: string
  readonly lands: 'files' | 'commit' | 'branch'
  /** All others are refused. */
  readonly takes: readonly LandingOption[]
  /** Why it cannot be undone: it has reached others. */
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
  merge: { summary: 'makes a merge commit on a branch', lands: 'commit', takes: commitOptions },
  rebase: { summary: 'makes a commit of each step on a branch', lands: 'commit', takes: commitOptions },
  'keep-branch': {
    summary: 'closes the task and leaves all of its work on its branch',
    lands: 'branch',
    takes: [],
  },
  pr: {
    summary: 'pushes all of the work on its branch and opens a pull request',
    lands: 'branch',
    takes: ['onto', 'message', 'keep', 'hooks'],
    final: 'a pull request was opened',
  },
} as const satisfies Record<string, StrategyFacts>

export type Strategy = keyof typeof table
export const strategyFacts: Readonly<Record<Strategy, StrategyFacts>> = table
export const strategies = Object.keys(table) as readonly Strategy[]
