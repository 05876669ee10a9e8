/** What becomes of a task's folder and refs when the task is closed. */
import type { Work } from '../tasks/work.ts'
import path from 'node:path'
import { now } from '../base/time.ts'
import type { TaskState } from '../model/enums.ts'
import { conflictError } from '../model/errors.ts'
import type { RefChange, Worktree } from '../model/git.ts'
import type { Operation } from '../model/operation.ts'
import { branchRef, keptHeadRef, keptRef, pinRef } from '../model/refs.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { freeTrash } from '../workspaces/make.ts'
import { requireUnmoved } from '../workspaces/moved.ts'
import { type Leaving, leaving } from './shadow.ts'

interface ClosingOptions {
  readonly keepBranch?: boolean | undefined
  readonly hidden?: boolean | undefined
  /** Read before, where many are closed at once. */
  readonly worktrees?: readonly Worktree[] | undefined
  /** The places in the trash that the others of them will have. */
  readonly taken?: Set<string> | undefined
}

interface Closing extends Pick<Operation, 'refs' | 'workspace' | 'record'> {
  readonly branchKept: boolean
}

/** Folder into the trash, branch and pin away; a branch that was there before, or that somebody uses, stays. */
export async function closing(work: Work, state: TaskState, options: ClosingOptions): Promise<Closing> {
  const { ports, repo, task } = work
  await requireUnmoved(work)
  const worktrees = options.worktrees ?? (await ports.git.readWorktrees(repo.place))
  const branchKept = Boolean(options.keepBranch) || task.adopted || isUsedElsewhere(worktrees, task)
  const refs: RefChange[] = []
  const tip = await ports.refs.findRef(repo.place, branchRef(task.branch))
  if (!branchKept && tip !== undefined) {
    refs.push(
      { ref: keptRef(task.uid), old: null, new: tip },
      { ref: branchRef(task.branch), old: tip, new: null },
    )
  }
  const head = await findDetachedHead(ports, repo, worktrees, task)
  if (head !== undefined) refs.push({ ref: keptHeadRef(task.uid), old: null, new: head })
  const pin = await ports.refs.findRef(repo.place, pinRef(task.uid))
  if (pin !== undefined) refs.push({ ref: pinRef(task.uid), old: pin, new: null })
  const trash = task.shadow ? null : await freeTrash(ports, task.path, options.taken)
  const closedAt = now(ports)
  const from = { state: task.state, closedAt: null, trash: null, hidden: false }
  const to = { state, closedAt, trash, hidden: Boolean(options.hidden) }
  const workspace = trash === null ? undefined : ({ to: 'trash', trash } as const)
  return { refs, workspace, record: { from, to }, branchKept }
}

/** The same for work that does not land: a checkout of the user's is theirs again. */
export async function givingUp(
  work: Work,
  state: TaskState,
  options: ClosingOptions,
): Promise<Closing & Partial<Leaving>> {
  const { task } = work
  const closed = await closing(work, state, options)
  if (!task.shadow) return closed
  const { conflicts, ...left } = await leaving(work)
  if (conflicts.length > 0) throw conflictError(conflicts)
  return { ...closed, ...left, refs: [...left.refs, ...closed.refs] }
}

/** A branch that somebody has checked out must not vanish under them. */
function isUsedElsewhere(worktrees: readonly Worktree[], task: Task): boolean {
  return worktrees.some((other) => other.branch === task.branch && other.path !== task.path)
}

/** Where a workspace of a closed task stands, if nothing that stays when it goes leads to that commit. */
export async function findUnkeptHead({ ports, repo, task }: Work): Promise<string | undefined> {
  const head = await findDetachedHead(ports, repo, await ports.git.readWorktrees(repo.place), task)
  if (head === undefined) return undefined
  for (const ref of [keptHeadRef(task.uid), keptRef(task.uid), branchRef(task.branch)]) {
    const tip = await ports.refs.findRef(repo.place, ref)
    if (tip === head || (tip !== undefined && (await ports.history.isAncestor(repo.place, head, tip))))
      return undefined
  }
  return head
}

/** Commits made on no branch: nothing but the workspace itself leads to them. */
async function findDetachedHead(ports: Ports, repo: Repo, worktrees: readonly Worktree[], task: Task) {
  const own = worktrees.find((worktree) => worktree.path === task.path)
  if (!own?.name || own.branch !== null) return undefined
  const gitDir = path.join(repo.commonDir, 'worktrees', own.name)
  return ports.history.findCommit({ ...repo.place, gitDir }, 'HEAD')
}
