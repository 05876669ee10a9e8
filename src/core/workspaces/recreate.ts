/** Makes a missing or damaged workspace again from the last step. */
import { quoted } from '../base/shell-quote.ts'
import type { Work } from '../tasks/work.ts'
import { now } from '../base/time.ts'
import { AppError, appError } from '../model/errors.ts'
import type { Worktree } from '../model/git.ts'
import { branchRef, pinRef } from '../model/refs.ts'
import { repoRoot } from '../model/repo.ts'
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

/** Makes sure that the task has its workspace: a missing one is recreated, a damaged git is mended. */
export async function ensureWorkspace(work: Work): Promise<{ task: Task; mended: Mended }> {
  const { ports, task } = work
  if (task.shadow) {
    // Only the user can bring back their own checkout.
    await requireWorkspace(work)
    return { task, mended: 'sound' }
  }
  await requireBaseCommit(work)
  await requireRegistration(work)
  if (!(await isThere(ports, task))) {
    return { task: await recreate(work), mended: 'recreated' }
  }
  const mended = await mendGit(work)
  return { task, mended: mended ? 'mended' : 'sound' }
}

/** Throws when the repository has lost the commit that the task started from: another one was made at its path. */
export async function requireBaseCommit({ ports, repo, task, signal }: Work): Promise<void> {
  const { id, base } = task
  // While the pin is there, so is the commit, and git need not be asked.
  if ((await ports.refs.findRef(repo.place, pinRef(task.uid), signal)) === base.commit) return
  if ((await ports.history.findCommit(repo.place, base.commit, signal)) !== undefined) return
  const where = repoRoot(repo.commonDir)
  throw new AppError(
    'baseMissing',
    `The commit ${base.commit.slice(0, 10)} that ${id} started from is not in ${where}: the repository was made anew, or lost it.`,
    {
      path: where,
      hint: `What ${id} did is kept: offshoot accept ${id} lands it as a patch, offshoot reject ${id} gives it up.`,
    },
  )
}

/** Whether the workspace exists. An empty folder, without even `.git`, counts as a deleted workspace. */
async function isThere(ports: Pick<Ports, 'files'>, task: Task): Promise<boolean> {
  if ((await ports.files.readKind(task.path)) !== 'folder') return false
  return (await ports.files.readNames(task.path)).length > 0
}

async function mendGit({ ports, repo, task, signal }: Work): Promise<boolean> {
  const aside = trashParts(await freeTrash(ports, task.path)).git
  return isolationOf(ports, task).mend(repo, task, aside, signal)
}

/** Throws when the workspace is missing, because a step of a missing folder would say that all files were deleted. */
export async function requireWorkspace(work: Work): Promise<void> {
  const { ports, task } = work
  // After a move, somebody may have put another folder at the old path; it is not the workspace.
  await requireRegistration(work)
  if (await isThere(ports, task)) return requireOnBranch(work)
  throw new AppError('notFound', `The workspace of ${task.id} is gone.`, {
    path: task.path,
    hint: `offshoot start ${task.id} makes it again, as of its last step.`,
  })
}

/** Throws when the user's checkout is not on the task's branch: work on another branch is the user's own. */
export async function requireOnBranch({ ports, repo, task }: Work): Promise<void> {
  const { path: checkout, branch, shadow } = task
  // During a run the work is the agent's, whatever branch it switches to.
  if (!shadow || task.pending?.verb === 'run') return
  const now = await ports.git.readHeadBranch({ ...repo.place, gitDir: shadow.gitDir })
  if (now === branch) return
  throw new AppError('branchInUse', `${checkout} is on ${now ?? 'no branch'}, not on ${branch}.`, {
    path: checkout,
    hint: `git switch ${quoted(branch)} goes back to the work of ${task.id}.`,
  })
}

export function requireFree(branch: string, worktrees: readonly Worktree[]): void {
  const user = worktrees.find((worktree) => worktree.branch === branch)
  if (user === undefined) return
  throw new AppError('branchInUse', `The branch ${branch} is checked out in ${user.path}.`, {
    path: user.path,
    hint: `Choose another one (--branch NAME), or leave that one there: git -C ${quoted(user.path)} switch --detach`,
  })
}

/** The last published step, or the base commit when the repository has lost it. */
async function headOf({ ports: { history }, repo, task, signal }: Work): Promise<string> {
  return (await history.findCommit(repo.place, task.head, signal)) ?? task.base.commit
}

/** The commit to recreate the branch at. An adopted branch never holds steps, so it is made again at the base. */
export async function branchTip(work: Work): Promise<string> {
  const { task } = work
  return task.adopted ? task.base.commit : headOf(work)
}

async function recreate(work: Work): Promise<Task> {
  const { ports, repo, task, signal } = work
  const { git, refs, steps, seeding } = ports
  // The mark of a run would be gone, and with it all that keeps others from its task.
  requireIdle(task)
  await append(ports, task.uid, { type: 'recreate.begun', owner: ports.processes.self() }, now(ports))
  try {
    await trashFolder(work, await freeTrash(ports, task.path))
    requireFree(task.branch, await git.readWorktrees(repo.place))
    const ref = branchRef(task.branch)
    if (!task.adopted) await refs.clearBrokenRef(repo.place, ref)
    if (task.isolation === 'worktree' && (await refs.findRef(repo.place, ref, signal)) === undefined) {
      // If `git gc` deleted published commits, the next publish writes them again from the vault.
      const tip = await branchTip(work)
      await refs.changeRefs(repo.place, [{ ref, old: null, new: tip }], 'offshoot: recreate', signal)
    }
    const [first, ...later] = await steps.readSteps(repo, task)
    if (first) {
      await makeBase(ports, repo, task.path)
      await ports.files.makeNewFolder(task.path)
      await mendGit(work)
      await steps.restore(repo, task, null, later.at(-1) ?? first, { signal })
      if (later.length === 0) await takeCommits(work, first)
    } else {
      await makeFolder(work)
      await seeding.reseed(repo, task)
      await isolationOf(ports, task).checkOut(repo, task, signal)
    }
    await ports.isolations.fillSubmodules(repo, task, await headOf(work), signal)
    const from = await ports.locate(task.origin).catch(() => undefined)
    const settings = from && (await ports.settings.read(from.checkout))
    if (settings) await include(work, from, settings.workspace)
    return await append(ports, task.uid, { type: 'recreate.done' }, now(ports))
  } catch (error) {
    await undoRecreate(work, appError(error).message).catch(() => {})
    throw error
  }
}

/** Restores files that only the agent's commits hold. Not by `git checkout`, which might run filters of the agent. */
async function takeCommits(work: Work, first: Step): Promise<void> {
  const { ports, repo, task, signal } = work
  const head = await ports.refs.findRef(repo.place, branchRef(task.branch), signal)
  if (head === undefined || head === task.base.commit) return
  const tree = await rawTree(work, first.tree, head)
  await ports.steps.restore(repo, task, first, { ...first, tree }, { signal })
}
