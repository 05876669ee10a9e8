/** A workspace that is gone or damaged, made whole from the last step. */
import { AppError, appError } from './errors.ts'
import type { Ports, Repo, Worktree } from './ports.ts'
import type { Task } from './task.ts'
import { branchRef, freeTrash, isolationOf, makeFolder, trashFolder, undoRecreate } from './workspace.ts'

export type Mended = 'sound' | 'mended' | 'recreated'

/** Makes sure that the task has its workspace, with every file of the last step. */
export async function ensureWorkspace(
  ports: Ports,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<{ task: Task; mended: Mended }> {
  if ((await ports.files.readKind(task.path)) !== 'folder') {
    return { task: await recreate(ports, repo, task, signal), mended: 'recreated' }
  }
  const aside = `${await freeTrash(ports, task.path)}.git`
  const mended = await isolationOf(ports, task).mend(repo, task, aside, signal)
  return { task, mended: mended ? 'mended' : 'sound' }
}

/** For verbs that record what is there: nothing there must not be recorded as everything deleted. */
export async function requireWorkspace(ports: Ports, repo: Repo, task: Task): Promise<void> {
  if ((await ports.files.readKind(task.path)) === 'folder') return
  throw new AppError('WT_005', `The workspace of ${task.id} is gone.`, {
    path: task.path,
    hint: `offshoot start ${task.id} makes it again, as of its last step. (${repo.name})`,
  })
}

export function requireFree(branch: string, worktrees: readonly Worktree[]): void {
  const user = worktrees.find((worktree) => worktree.branch === branch)
  if (user === undefined) return
  throw new AppError('WT_002', `The branch ${branch} is checked out in ${user.path}.`, { path: user.path })
}

async function recreate(ports: Ports, repo: Repo, task: Task, signal?: AbortSignal): Promise<Task> {
  const { store, git, vault } = ports
  const now = () => ports.clock.now().toISOString()
  store.append(task.uid, { type: 'recreate.begun', owner: ports.processes.self() }, now())
  try {
    await trashFolder(ports, repo, task, await freeTrash(ports, task.path))
    requireFree(task.branch, await git.readWorktrees(repo.place))
    const ref = branchRef(task.branch)
    if (task.isolation === 'worktree' && (await git.findRef(repo.place, ref, signal)) === undefined) {
      await git.changeRefs(repo.place, [{ ref, old: null, new: task.head }], 'offshoot: recreate', signal)
    }
    const [first, ...later] = await vault.readSteps(repo, task)
    await makeFolder(ports, repo, task, signal)
    await vault.reseed(repo, task)
    const last = later.at(-1)
    if (first && last) {
      await vault.restore(repo, task, first, last, signal)
      await isolationOf(ports, task).resetIndex(repo, task, signal)
    } else {
      // No step holds what the agent did, but its commits do.
      await isolationOf(ports, task).checkOut(repo, task, signal)
    }
    return store.append(task.uid, { type: 'recreate.done' }, now())
  } catch (error) {
    await undoRecreate(ports, repo, task, appError(error).message).catch(() => {})
    throw error
  }
}
