/** The verb worktree list: shows every worktree of a repository as git does, and which task has it. */
import path from 'node:path'
import type { TaskState } from '../model/enums.ts'
import type { Worktree } from '../model/git.ts'
import { branchRef, branchRefs } from '../model/refs.ts'
import type { Place } from '../model/repo.ts'
import type { ShownTask } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { asListed } from '../tasks/liveness.ts'
import { findRepo } from '../tasks/repo.ts'

export interface ListedWorktree {
  readonly path: string
  /** Null on a detached HEAD and in a bare repository. */
  readonly branch: string | null
  /** The commit that it is on; null when there is none yet. */
  readonly head: string | null
  /** The user's own checkout, or the bare repository itself. */
  readonly isMain: boolean
  /** We made it, and no open task has it. */
  readonly isOrphan: boolean
  /** The open task that has it; null for a worktree of somebody else. */
  readonly task: string | null
  readonly state: TaskState | null
}

/** The main checkout first, then the linked worktrees by their paths. */
export async function worktrees(
  ports: Ports,
  { dir }: { readonly dir: string },
  signal?: AbortSignal,
): Promise<ListedWorktree[]> {
  const { place, repo } = await findRepo(ports, dir)
  const open = repo ? await ports.store.readTasks({ repo: repo.id, open: true }) : []
  const tasks = await asListed(ports, open)
  const registrations = await ports.git.readRegistrations(place)
  const marks = new Map(registrations.map(({ name, uid }) => [name, uid]))
  const refs = await ports.refs.readRefs(place, [branchRefs], signal)
  const [main, ...linked] = await ports.git.readWorktrees(place)
  const found = linked.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  return Promise.all(
    [...(main ? [main] : []), ...found].map(async (worktree) => {
      const { name, path: folder, branch } = worktree
      const uid = name === null ? undefined : marks.get(name)
      const task = findTask(tasks, folder, uid)
      const tip =
        branch === null ? await findHead(ports, place, worktree, signal) : refs.get(branchRef(branch))
      return {
        path: folder,
        branch,
        head: tip ?? null,
        isMain: name === null,
        isOrphan: name !== null && uid !== undefined && !task,
        task: task?.id ?? null,
        state: task?.state ?? null,
      }
    }),
  )
}

/** By the mark, because the user may have moved the folder; by the path on a shadow branch, or if the mark was lost. */
function findTask(
  tasks: readonly ShownTask[],
  folder: string,
  uid: string | undefined,
): ShownTask | undefined {
  return tasks.find((task) => task.uid === uid) ?? tasks.find((task) => task.path === folder)
}

function findHead(
  { history }: Pick<Ports, 'history'>,
  place: Place,
  { name }: Worktree,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const gitDir = name === null ? place.commonDir : path.join(place.commonDir, 'worktrees', name)
  return history.findCommit({ ...place, gitDir }, 'HEAD', signal)
}
