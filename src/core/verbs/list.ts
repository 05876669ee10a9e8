/** The verb list: shows the tasks of a repository. */
import { type Mark, marksOf } from '../landing/forecast.ts'
import { findForecast } from '../landing/forecast-file.ts'
import type { TaskState } from '../model/enums.ts'
import type { Repo } from '../model/repo.ts'
import { isOpen, type ShownTask } from '../model/task.ts'
import type { Records } from '../ports/index.ts'
import { asListed } from '../tasks/liveness.ts'
import { findOldPlace, findRepo } from '../tasks/repo.ts'

export interface ListInput {
  readonly dir: string
  /** Closed tasks too. */
  readonly all?: boolean | undefined
  readonly state?: TaskState | undefined
}

export interface Listed {
  /** The last entry of the log that surely counts for the tasks: who follows the log from there misses no change of theirs. */
  readonly seq: number
  /** Newest first, as of their last event. */
  readonly tasks: readonly ShownTask[]
  /** What the last forecast said of the open ones; undefined when there is none. */
  readonly forecast?: { readonly at: string; readonly marks: readonly Mark[] } | undefined
  /** The folder that the repository was moved from, if its record does not know of that yet. */
  readonly movedFrom?: string | undefined
}

/** The tasks of the repository. Starts no process. */
export async function list(records: Records, input: ListInput): Promise<Listed> {
  const { repo, place } = await findRepo(records, input.dir)
  const { seq } = await records.store.readPosition([])
  if (!repo) return { seq, tasks: [], movedFrom: await findOldPlace(records, place) }
  const openOnly = !input.all && input.state === undefined
  const found = await records.store.readTasks({ repo: repo.id, ...(openOnly && { open: true }) })
  const tasks = await asListed(records, found)
  const listed = input.state === undefined ? tasks : tasks.filter((task) => task.state === input.state)
  return { seq, tasks: listed, forecast: await readMarks(records, repo, listed) }
}

/** The marks of the last forecast. Nothing is looked at again, so that a mark may be outdated. */
async function readMarks(
  records: Pick<Records, 'readForecast'>,
  repo: Repo,
  tasks: readonly ShownTask[],
): Promise<Listed['forecast']> {
  const open = tasks.filter(isOpen)
  const last = open.length > 0 ? findForecast(await records.readForecast(repo)) : undefined
  if (!last) return undefined
  const standing = open.map(({ uid, id, checkpoints }) => ({ uid, task: id, step: checkpoints }))
  return { at: last.at, marks: marksOf(last, standing) }
}
