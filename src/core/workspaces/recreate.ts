/** A workspace that is gone or damaged, made whole from the last step. */
import type { Work } from '../tasks/work.ts'
import { AppError, appError } from '../model/errors.ts'
import type { Worktree } from '../model/git.ts'
import { branchRef } from '../model/refs.ts'
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import { trashParts } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'
import { requireIdle } from '../tasks/guards.ts'
import { append } from '../tasks/records.ts'
import { include } from './include.ts'
import { freeTrash, isolationOf, makeBase, makeFolder, trashFolder, undoRecreate } from './make.ts'
import { requireRegistration } from './moved.ts'
import { rawTree } from './raw-tree.ts'

export type Mended = 'sound' | 'mended' | 'recreated'

/** Makes sure that the task has its workspace, with every file of the last step. */
export async function ensureWorkspace(work: Work): Promise<{ task: Task; mended: Mended }> {
  const { ports, task } = work
  if (task.shadow) {
    // The user's own checkout is theirs to bring back.
    await requireWorkspace(work)
    return { task, mended: 'sound' }
  }
  await requireRegistration(work)
  if (!(await isThere(ports, task))) {
    return { task: await recreate(work), mended: 'recreated' }
  }
  const mended = await mend(work)
  return { task, mended: mended ? 'mended' : 'sound' }
}

/** A folder without anything in it, not even `.git`, is none: whoever emptied it took the workspace away. */
async function isThere(ports: Ports, task: Task): Promise<boolean> {
  if ((await ports.files.readKind(task.path)) !== 'folder') return false
  return (await ports.files.readNames(task.path)).length > 0
}

async function mend({ ports, repo, task, signal }: Work): Promise<boolean> {
  const aside = trashParts(await freeTrash(ports, task.path)).git
  return isolationOf(ports, task).mend(repo, task, aside, signal)
}

/** For verbs that record what is there: nothing there must not be recorded as everything deleted. */
export async function requireWorkspace(work: Work): Promise<void> {
  const { ports, repo, task } = work
  // Where a workspace was moved away from, anything may be written since: what is there does not make it the workspace.
  await requireRegistration(work)
  if (await isThere(ports, task)) return requireOnBranch(work)
  throw new AppError('notFound', `The workspace of ${task.id} is gone.`, {
    path: task.path,
    hint: `offshoot start ${task.id} makes it again, as of its last step. (${repo.name})`,
  })
}

/** A checkout of the user's is the workspace of a task only while it is on its branch: what they do on another is theirs. */
export async function requireOnBranch({ ports, repo, task }: Work): Promise<void> {
  const { path: checkout, branch, shadow } = task
  // What an agent does in its run is its work, wherever it goes.
  if (!shadow || task.pending?.verb === 'run') return
  const now = await ports.git.readHeadBranch({ ...repo.place, gitDir: shadow.gitDir })
  if (now === branch) return
  throw new AppError('branchInUse', `${checkout} is on ${now ?? 'no branch'}, not on ${branch}.`, {
    path: checkout,
    hint: `git switch ${branch} goes back to the work of ${task.id}.`,
  })
}

export function requireFree(branch: string, worktrees: readonly Worktree[]): void {
  const user = worktrees.find((worktree) => worktree.branch === branch)
  if (user === undefined) return
  throw new AppError('branchInUse', `The branch ${branch} is checked out in ${user.path}.`, {
    path: user.path,
  })
}

/** The last step as the user's repository has it. */
async function headOf({ ports: { history }, repo, task, signal }: Work): Promise<string> {
  return (await history.findCommit(repo.place, task.head, signal)) ?? task.base.commit
}

/** Where its branch belongs. The steps are never on one of the user's own: that is made again as it was taken. */
export async function branchTip(work: Work): Promise<string> {
  const { task } = work
  return task.adopted ? task.base.commit : headOf(work)
}

async function recreate(work: Work): Promise<Task> {
  const { ports, repo, task, signal } = work
  const { git, refs, steps, seeding } = ports
  const now = () => ports.clock.now().toISOString()
  // The mark of a run would be gone, and with it all that keeps others from its task.
  requireIdle(task)
  await append(ports, task.uid, { type: 'recreate.begun', owner: ports.processes.self() }, now())
  try {
    await trashFolder(work, await freeTrash(ports, task.path))
    requireFree(task.branch, await git.readWorktrees(repo.place))
    const ref = branchRef(task.branch)
    if (!task.adopted) await refs.clearBrokenRef(repo.place, ref)
    if (task.isolation === 'worktree' && (await refs.findRef(repo.place, ref, signal)) === undefined) {
      // Commits that were collected come back from the vault when the steps are next published.
      const tip = await branchTip(work)
      await refs.changeRefs(repo.place, [{ ref, old: null, new: tip }], 'offshoot: recreate', signal)
    }
    const [first, ...later] = await steps.readSteps(repo, task)
    if (first) {
      await makeBase(ports, repo, task.path)
      await ports.files.makeNewFolder(task.path)
      await mend(work)
      await steps.restore(repo, task, null, later.at(-1) ?? first, signal)
      if (later.length === 0) await takeCommits(work, first)
    } else {
      await makeFolder(work, signal)
      await seeding.reseed(repo, task)
      await isolationOf(ports, task).checkOut(repo, task, signal)
    }
    await ports.isolations.fillSubmodules(repo, task, await headOf(work), signal)
    const from = await ports.locate(task.origin).catch(() => undefined)
    const settings = from && (await ports.settings.read(from.checkout))
    if (settings) await include(ports, repo, from, settings.workspace, task, signal)
    return await append(ports, task.uid, { type: 'recreate.done' }, now())
  } catch (error) {
    await undoRecreate(work, appError(error).message).catch(() => {})
    throw error
  }
}

/** No step holds what the agent did, but its commits do. Git's own checkout might run what the agent has set up. */
async function takeCommits(work: Work, first: Step): Promise<void> {
  const { ports, repo, task, signal } = work
  const head = await ports.refs.findRef(repo.place, branchRef(task.branch), signal)
  if (head === undefined || head === task.base.commit) return
  const tree = await rawTree(work, first.tree, head)
  await ports.steps.restore(repo, task, first, { ...first, tree }, signal)
}
