/** The states of a task, the kinds of isolation and the levels of policy, as lists that doors and schemas read. */
export const taskStates = [
  'pending',
  'active',
  'completed',
  'failed',
  'stale',
  'accepted',
  'rejected',
  'kept',
] as const
export type TaskState = (typeof taskStates)[number]

export const isolations = ['worktree', 'clone', 'branch'] as const
export type Isolation = (typeof isolations)[number]

/** How much an agent may do. */
export const policyLevels = ['permissive', 'moderate', 'strict'] as const
export type PolicyLevel = (typeof policyLevels)[number]
