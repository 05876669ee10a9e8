/** The checkout that the work of a task lands in. */
import { AppError } from '../model/errors.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import { findShadow } from '../operations/shadow.ts'
import type { Ports } from '../ports/index.ts'
import { closeHint } from '../tasks/guards.ts'
import { findTaskIn } from '../tasks/repo.ts'
import type { Work } from '../tasks/work.ts'

/** The repository, with the place that the task lands in. Throws while another task works there on a shadow branch. */
export async function requireLandingPlace({ ports, repo, task }: Work): Promise<Repo> {
  const target = await readLandingPlace(ports, repo, task)
  const other = await findShadow(ports, repo, target.place.checkout)
  if (other && other.uid !== task.uid) throw shadowedError(target, other)
  return target
}

/** The checkout that -C or the current folder is in; inside a workspace, the one that the task was started in. */
export async function readLandingPlace(
  ports: Pick<Ports, 'store' | 'locate'>,
  repo: Repo,
  task: Task,
): Promise<Repo> {
  const { checkout } = repo.place
  const inWorkspace = checkout !== null && (await findTaskIn(ports, checkout)) !== undefined
  return { ...repo, place: await ports.locate(checkout === null || inWorkspace ? task.origin : checkout) }
}

export function shadowedError({ place: { checkout } }: Repo, other: Task): AppError {
  const target = checkout ?? ''
  return new AppError('branchInUse', `${other.id} is at work in ${target}, on its branch ${other.branch}.`, {
    path: target,
    hint: closeHint(other.id),
  })
}
