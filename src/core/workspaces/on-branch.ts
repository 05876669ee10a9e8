/** Which branch the worktree of a task is on, when the user or the agent has renamed it or gone over to another. */
import type { Worktree } from '../model/git.ts'
import type { Task } from '../model/task.ts'

/** The branch that the worktree is on, if that is not the task's. */
export function otherBranch(task: Task, worktrees: readonly Worktree[]): string | undefined {
  if (task.isolation !== 'worktree') return undefined
  const branch = worktrees.find(({ path }) => path === task.path)?.branch ?? undefined
  return branch === task.branch ? undefined : branch
}
