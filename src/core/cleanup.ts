/** What becomes of a task's folder and refs when the task is closed. */
import type { Operation } from './operation.ts'
import type { Place, Ports, RefChange, Repo } from './ports.ts'
import type { Task, TaskState } from './task.ts'
import { branchRef, freeTrash, pinRef } from './workspace.ts'

/** Holds what a removed branch pointed at, for as long as the trash keeps the files. */
export function keptRef(uid: string): string {
  return `refs/offshoot/trash/${uid}`
}

export interface Closing extends Pick<Operation, 'refs' | 'workspace' | 'record'> {
  readonly branchKept: boolean
}

/** Folder into the trash, branch and pin away; a branch that was there before, or that somebody uses, stays. */
export async function closing(
  ports: Ports,
  repo: Repo,
  task: Task,
  state: TaskState,
  options: { keepBranch?: boolean | undefined; hidden?: boolean | undefined } = {},
): Promise<Closing> {
  const branchKept =
    Boolean(options.keepBranch) || task.adopted || (await isUsedElsewhere(ports, repo.place, task))
  const refs: RefChange[] = []
  const tip = await ports.git.findRef(repo.place, branchRef(task.branch))
  if (!branchKept && tip !== undefined) {
    refs.push(
      { ref: keptRef(task.uid), old: null, new: tip },
      { ref: branchRef(task.branch), old: tip, new: null },
    )
  }
  const pin = await ports.git.findRef(repo.place, pinRef(task.uid))
  if (pin !== undefined) refs.push({ ref: pinRef(task.uid), old: pin, new: null })
  const trash = await freeTrash(ports, task.path)
  const closedAt = ports.clock.now().toISOString()
  const from = { state: task.state, closedAt: null, trash: null, hidden: false }
  const to = { state, closedAt, trash, hidden: Boolean(options.hidden) }
  return { refs, workspace: { to: 'trash', trash }, record: { from, to }, branchKept }
}

/** A branch that somebody has checked out must not vanish under them. */
async function isUsedElsewhere(ports: Ports, place: Place, task: Task): Promise<boolean> {
  const worktrees = await ports.git.readWorktrees(place)
  return worktrees.some((other) => other.branch === task.branch && other.path !== task.path)
}
