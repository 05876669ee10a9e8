/** Fills a workspace with files by `git read-tree`. */
import type { OnProgress } from '../core/model/progress.ts'
import type { Repo } from '../core/model/repo.ts'
import type { Task } from '../core/model/task.ts'
import type { GitExec } from '../git/exec.ts'
import { frugal } from '../git/frugal.ts'
import { workspaceScope } from '../git/workspace-place.ts'

/** With core.ignoreStat, git would mark every file of the index as unchanged, for ever. */
export const fillSettings = [['core.ignoreStat', 'false'], ...frugal] as const

/** Writes the files of the base commit. */
export async function fill(
  exec: GitExec,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
  onProgress?: OnProgress,
): Promise<void> {
  await exec({
    args: ['read-tree', '--reset', '-u', ...(onProgress ? ['-v'] : []), task.base.commit],
    ...workspaceScope(repo, task),
    settings: fillSettings,
    ...(onProgress && { progress: true, onStderr: progressReader(onProgress) }),
    signal,
  })
}

/** Reads the numbers of git's progress, and ignores its words. */
function progressReader(onProgress: OnProgress): (chunk: Buffer) => void {
  return (chunk) => {
    const last = [...chunk.toString().matchAll(/(\d+)% \((\d+)\/(\d+)\)/g)].at(-1)
    if (!last) return
    const [, percent, files, total] = last.map(Number)
    onProgress({ phase: 'making', percent: percent ?? 0, files: files ?? 0, total: total ?? 0 })
  }
}

/** Writes the index and the files of HEAD. */
export async function checkOut(exec: GitExec, repo: Repo, task: Task, signal?: AbortSignal): Promise<void> {
  await exec({
    args: ['read-tree', '--reset', '-u', 'HEAD'],
    ...workspaceScope(repo, task),
    settings: fillSettings,
    signal,
  })
}

/** Resets the index to HEAD and leaves the files alone. A sparse workspace also gets its skip-worktree flags back. */
export async function resetIndex(exec: GitExec, repo: Repo, task: Task, signal?: AbortSignal): Promise<void> {
  const scope = { ...workspaceScope(repo, task), settings: fillSettings, signal }
  await exec({ args: ['read-tree', '--reset', 'HEAD'], ...scope })
  const asked = await exec({ args: ['config', '--type=bool', 'core.sparseCheckout'], expect: [1], ...scope })
  if (asked.stdout.toString().trim() !== 'true') return
  await exec({ args: ['sparse-checkout', 'reapply'], expect: [1, 128], ...scope })
}
