/** Plans the part of an operation that closes a task: its folder, its branch, its pin. */
import type { Work } from '../tasks/work.ts'
import path from 'node:path'
import { quoted } from '../base/shell-quote.ts'
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
  /** The worktrees, if the caller has read them for many tasks. */
  readonly worktrees?: readonly Worktree[] | undefined
  /** The paths in the trash that the other tasks of the batch get. */
  readonly taken?: Set<string> | undefined
}

interface Closing extends Pick<Operation, 'refs' | 'workspace' | 'record'> {
  readonly branchKept: boolean
}

/** Moves the folder into the trash and deletes pin and branch; an adopted branch, or one in use elsewhere, stays. */
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

/** Closes a task whose work does not land; on a shadow branch it also gives the checkout back to the user. */
export async function givingUp(
  work: Work,
  state: TaskState,
  options: ClosingOptions,
): Promise<Closing & Partial<Leaving>> {
  const { task } = work
  const closed = await closing(work, state, options)
  if (!task.shadow) return closed
  const { conflicts, ...left } = await leaving(work)
  if (conflicts.length > 0) throw conflictError(conflicts, moveBack(task))
  return { ...closed, ...left, refs: [...left.refs, ...closed.refs] }
}

/** The hint where what the user had put away no longer fits the branch that it goes back to. */
function moveBack({ id, base: { branch, commit } }: Task): string {
  const name = quoted(branch ?? '')
  return `${branch} has moved since ${id} was started. To move it back, and repeat: git branch --force ${name} ${commit.slice(0, 10)}`
}

/** Whether another worktree has the branch checked out; then it must not be deleted. */
function isUsedElsewhere(worktrees: readonly Worktree[], task: Task): boolean {
  return worktrees.some((other) => other.branch === task.branch && other.path !== task.path)
}

/** The detached HEAD of a closed task's workspace, if no ref leads to that commit. */
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

/** The HEAD of a workspace on no branch: only the workspace itself leads to these commits. */
async function findDetachedHead(
  ports: Pick<Ports, 'history'>,
  repo: Repo,
  worktrees: readonly Worktree[],
  task: Task,
) {
  const own = worktrees.find((worktree) => worktree.path === task.path)
  if (!own?.name || own.branch !== null) return undefined
  const gitDir = path.join(repo.commonDir, 'worktrees', own.name)
  return ports.history.findCommit({ ...repo.place, gitDir }, 'HEAD')
}
