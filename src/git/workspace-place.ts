/** The git folder of a workspace, as we made it: its `.git` may say something else by now. */
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

/** The scope of a git call in a workspace: it names the git folder, and the user's own conversions apply. */
export function workspaceScope(repo: Repo, task: Task) {
  const { gitDir } = workspacePlace(repo, task)
  return { gitDir, workTree: task.path, cwd: task.path, config: 'user' } as const
}
