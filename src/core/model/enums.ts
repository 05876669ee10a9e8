/** The states of a task, the kinds of isolation, the levels of policy and the like, as lists that doors and schemas read. */
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

/** How the user is told that a run has ended or asks something, besides what a door prints. */
export const notifyWays = ['bell', 'desktop', 'command'] as const
export type NotifyWay = (typeof notifyWays)[number]

/** The kinds of sandbox that a run can ask for, one file of src/sandbox each; `none` is this machine as it is. */
export const sandboxKinds = ['none'] as const
export type SandboxKind = (typeof sandboxKinds)[number]
