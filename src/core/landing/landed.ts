/** Finds out whether the work of a task is in its base branch: merged, squashed or rebased, by offshoot or elsewhere. */
import type { Work } from '../tasks/work.ts'
import { appError } from '../model/errors.ts'
import { settingsOf } from '../tasks/hold.ts'
import type { Ports } from '../ports/index.ts'
import type { Repo } from '../model/repo.ts'
import { isOpen } from '../model/task.ts'
import { branchRef } from '../model/refs.ts'

export interface LandedState {
  /** null: the task has no work, there is no base branch, or git cannot tell. */
  readonly landed: boolean | null
  /** The branch that has the work: `main`, `origin/main`. */
  readonly where?: string
}

const unknown: LandedState = { landed: null }

export async function landedState(work: Work): Promise<LandedState> {
  const { ports, repo, task, signal } = work
  if (!isOpen(task) && task.state !== 'kept') return unknown
  try {
    const tip = await tipOf(work)
    if (tip === undefined || task.base.branch === null) return unknown
    const { remote } = (await settingsOf(ports, task)).pr
    const refs = [
      [task.base.branch, branchRef(task.base.branch)],
      [`${remote}/${task.base.branch}`, `refs/remotes/${remote}/${task.base.branch}`],
    ] as const
    for (const [where, ref] of refs) {
      const target = await ports.refs.findRef(repo.place, ref, signal)
      if (target === undefined || !(await isIn(ports, repo, tip, target, signal))) continue
      return (await isAllThere(work)) ? { landed: true, where } : { landed: false }
    }
    return { landed: false }
  } catch (thrown) {
    if (appError(thrown).kind === 'cancelled') throw thrown
    return unknown
  }
}

/** The last commit of the task; undefined as long as it has none. */
async function tipOf({ ports, repo, task, signal }: Work): Promise<string | undefined> {
  const branch = task.adopted
    ? undefined
    : await ports.refs.findRef(repo.place, branchRef(task.branch), signal)
  const tip = branch ?? task.head
  return tip === task.base.commit ? undefined : tip
}

/** Asks the cheap questions first: the first one answers for most branches. */
async function isIn(
  ports: Ports,
  { place }: Repo,
  tip: string,
  target: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const { history } = ports
  if (await history.isAncestor(place, tip, target, signal)) return true
  const { all, missing } = await history.readBeside(place, tip, target, signal)
  // Without any commit, "none is missing" would prove nothing.
  if (all > 0 && missing === 0) return true
  return history.isSquashed(place, tip, target, signal)
}

/** Whether the branch has all of the work. Files that are only in the workspace cannot have landed with the branch. */
async function isAllThere({ ports, repo, task, signal }: Work): Promise<boolean> {
  const published = await ports.publishing.readPublished(repo, task)
  if (task.checkpoints > 0 && !published.has(task.checkpoints)) return false
  if (!isOpen(task) || (await ports.files.readKind(task.path)) !== 'folder') return true
  return (await ports.steps.readDirt(repo, task, signal)).length === 0
}
