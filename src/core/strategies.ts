/** The ways to land a task's work. */
export const strategies = ['patch', 'squash', 'merge', 'rebase', 'keep-branch', 'pr'] as const
export type Strategy = (typeof strategies)[number]
