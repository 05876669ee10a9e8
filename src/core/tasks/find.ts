/** Finds the task that a command means: by id, by prefix, or by the folder it runs in. */
import path from 'node:path'
import { nearest } from '../base/did-you-mean.ts'
import { AppError } from '../model/errors.ts'
import type { Place, Repo } from '../model/repo.ts'
import { isOpen, type Task } from '../model/task.ts'
import type { Records } from '../ports/index.ts'
import { findOldPlace, findRepo, movedHint } from './repo.ts'

/** The task that an id means; undefined when there never was one. Starts no process. */
export async function findTask(records: Records, dir: string, id: string): Promise<Task | undefined> {
  const { repo } = await findRepo(records, dir)
  return repo && (await records.store.findTask(repo.id, id))
}

export async function findTaskByPath(records: Records, workspace: string): Promise<Task | undefined> {
  return records.store.findTaskByPath(path.resolve(workspace))
}

/** The task meant by `name`, for verbs that only read: its id, or a prefix that only one open task has. */
export function findMeant(
  records: Records,
  dir: string,
  name: string | undefined,
): Promise<{ repo: Repo; task: Task }> {
  return resolveTask(records, dir, name, (fits) => {
    if (fits.length > 1)
      throw noTask(name ?? '', `fits ${fits.map((task) => task.id).join(', ')}`, 'Give more of the id.')
    return fits[0]
  })
}

/** The task of that id, and no other. Without a name, the task whose workspace `dir` is in. */
export function requireTask(
  records: Records,
  dir: string,
  name: string | undefined,
): Promise<{ repo: Repo; task: Task }> {
  return resolveTask(records, dir, name, ([first]) => {
    if (first) throw noTask(name ?? '', 'is only the beginning of an id', `Did you mean ${first.id}?`)
    return undefined
  })
}

async function resolveTask(
  records: Records,
  dir: string,
  name: string | undefined,
  choose: (fits: readonly Task[]) => Task | undefined,
): Promise<{ repo: Repo; task: Task }> {
  const { repo, place } = await findRepo(records, dir)
  if (name === undefined) {
    const task = place.checkout === null ? undefined : await records.store.findTaskByPath(place.checkout)
    if (repo && task?.repo === repo.id) return { repo, task }
    throw new AppError('wrongUsage', 'Missing argument TASK: this folder is not the workspace of a task.', {
      hint: 'offshoot list shows the tasks; name one of them.',
    })
  }
  if (name === '')
    throw new AppError('wrongUsage', 'The name of the task is empty.', {
      hint: 'offshoot list shows the tasks.',
    })
  const task =
    repo && ((await records.store.findTask(repo.id, name)) ?? choose(await startingWith(records, repo, name)))
  if (repo && task) return { repo, task }
  throw await unknownTask(records, repo ?? place, name)
}

/** The error for an id that no task has: the id that was probably meant, or the place that the repository was moved from. */
async function unknownTask(records: Records, where: Repo | Place, name: string): Promise<AppError> {
  const message = `There is no task ${name} in this repository`
  if ('id' in where) {
    const open = await records.store.readTasks({ repo: where.id, open: true })
    const near = nearest(
      name,
      open.map(({ id }) => id),
    )
    const hint = near === undefined ? undefined : `Did you mean ${near}? offshoot list shows the open tasks.`
    return new AppError('noSuchTask', `${message}.`, { hint })
  }
  const old = await findOldPlace(records, where)
  if (old === undefined) return new AppError('noSuchTask', `${message}.`)
  return new AppError('noSuchTask', `${message}, which was at ${old} before.`, { hint: movedHint })
}

async function startingWith(records: Records, repo: Repo, prefix: string): Promise<Task[]> {
  return (await records.store.readTasks({ repo: repo.id, open: true })).filter((task) =>
    task.id.startsWith(prefix),
  )
}

function noTask(name: string, why: string, hint: string): AppError {
  return new AppError('noSuchTask', `There is no task ${name} in this repository: it ${why}.`, { hint })
}

/** The open siblings of a closed task. */
export async function siblingsOf({ store }: Records, task: Task): Promise<Task[]> {
  if (task.group === undefined || isOpen(task)) return []
  return (await store.readTasks({ repo: task.repo, open: true })).filter(({ group }) => group === task.group)
}
