/** Where the git folder of a workspace is, as we made it, whatever its `.git` says by now. */
import path from 'node:path'
import type { Place, Repo } from '../core/model/repo.ts'
import type { Task } from '../core/model/task.ts'

export function workspacePlace(repo: Repo, task: Task): Place {
  const own = path.join(task.path, '.git')
  if (task.shadow) return { commonDir: repo.commonDir, gitDir: task.shadow.gitDir, checkout: task.path }
  if (task.isolation === 'clone') return { commonDir: own, gitDir: own, checkout: task.path }
  const gitDir = path.join(repo.commonDir, 'worktrees', path.basename(task.path))
  return { commonDir: repo.commonDir, gitDir, checkout: task.path }
}

/** For calls in a workspace: the repository is named outright, the user's own conversions count. */
export function workspaceScope(repo: Repo, task: Task) {
  const { gitDir } = workspacePlace(repo, task)
  return { gitDir, workTree: task.path, cwd: task.path, config: 'user' } as const
}
