/** Finds the task that a command means: by id, by a short name, or by the folder it runs in. */
import path from 'node:path'
import { nearest } from '../base/did-you-mean.ts'
import { AppError } from '../model/errors.ts'
import type { StoredEvent, TaskEvent } from '../model/events.ts'
import { lastTask, taskHere } from '../model/names.ts'
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

const nameOne = 'offshoot list shows the tasks; name one of them.'

/**
 * The task of that id. Without a name, the task whose workspace `dir` is in. A door has replaced short names by ids before
 * (api/short-names.ts), so the beginning of an id is refused here.
 */
export async function requireTask(
  records: Records,
  dir: string,
  name: string | undefined,
): Promise<{ repo: Repo; task: Task }> {
  const { repo, place } = await findRepo(records, dir)
  if (name === undefined) {
    const task = await findHere(records, repo, place)
    if (repo && task) return { repo, task }
    throw new AppError('wrongUsage', 'Missing argument TASK: this folder is not the workspace of a task.', {
      hint: nameOne,
    })
  }
  if (name === '')
    throw new AppError('wrongUsage', 'The name of the task is empty.', {
      hint: nameOne,
    })
  const task = repo && (await records.store.findTask(repo.id, name))
  if (repo && task) return { repo, task }
  const [first] = repo ? await startingWith(records, repo, name) : []
  if (first) throw noTask(name, 'is only the beginning of an id', `Did you mean ${first.id}?`)
  throw await unknownTask(records, repo ?? place, name)
}

/** The task whose workspace the command was typed in. A repository made anew at the same path has none of the old one's. */
async function findHere(
  { store }: Records,
  repo: Repo | undefined,
  { checkout }: Place,
): Promise<Task | undefined> {
  const task = checkout === null ? undefined : await store.findTaskByPath(checkout)
  return task?.repo === repo?.id ? task : undefined
}

/**
 * The id that a name stands for: `-` for the task that the user was last at work on, `@` for that of the folder, and if
 * `takesBeginning`, the beginning of one id. Short names stand for open tasks only, and an id always stands for itself. A name
 * that stands for nothing stays as it is, so that the verb tells what it misses.
 */
export async function wholeId(
  records: Records,
  dir: string,
  name: string,
  takesBeginning: boolean,
): Promise<string> {
  if (name === lastTask) return (await requireLast(records, dir)).id
  if (name === taskHere) return (await requireHere(records, dir)).id
  if (!takesBeginning || name === '') return name
  const { repo } = await findRepo(records, dir)
  if (!repo || (await records.store.findTask(repo.id, name))) return name
  const fits = await startingWith(records, repo, name)
  if (fits.length > 1)
    throw noTask(name, `fits ${fits.map((task) => task.id).join(', ')}`, 'Give more of the id.')
  return fits[0]?.id ?? name
}

/** As `cd -` leads to the other folder, the task of this folder is left out. */
async function requireLast(records: Records, dir: string): Promise<Task> {
  const { repo, place } = await findRepo(records, dir)
  const here = await findHere(records, repo, place)
  const open = repo ? await records.store.readTasks({ repo: repo.id, open: true }) : []
  const others = open.filter(({ uid }) => uid !== here?.uid)
  const uses = await Promise.all(others.map(async ({ uid }) => lastUse(await readUses(records, uid))))
  const [last] = others.map((task, n) => ({ task, seq: uses[n] ?? 0 })).toSorted((a, b) => b.seq - a.seq)
  if (last) return last.task
  const besides = here && isOpen(here) ? `besides ${here.id}, the task of this folder, ` : ''
  throw new AppError('noSuchTask', `\`-\` is the last task, and ${besides}none is open in this repository.`, {
    hint: 'offshoot list --all also shows closed tasks; name one of them by its id.',
  })
}

async function requireHere(records: Records, dir: string): Promise<Task> {
  const { repo, place } = await findRepo(records, dir)
  const here = await findHere(records, repo, place)
  if (here && isOpen(here)) return here
  const why = here ? `${here.id} is closed` : 'this folder is not the workspace of a task'
  throw new AppError('noSuchTask', `\`@\` is the open task of this folder, and ${why}.`, {
    hint: 'offshoot list shows the open tasks; name one of them, or go into a workspace: cd "$(offshoot cd TASK)"',
  })
}

const uses = [
  'start.done',
  'checkpoint',
  'run.begun',
  'run.said',
  'run.answered',
  'operation.done',
] as const satisfies readonly TaskEvent['type'][]

const readUses = ({ store }: Records, uid: string) => store.readEvents({ uid, types: uses })

/** The place in the log where the user last began, changed or answered something. What an agent does is no use by the user. Pure. */
export function lastUse(events: readonly StoredEvent[]): number {
  const isOwn = ({ event }: StoredEvent) => {
    if (event.type === 'checkpoint') return event.run === undefined && event.tool !== 'sweep'
    return event.type !== 'run.answered' || event.by !== 'nobody'
  }
  return events.findLast(isOwn)?.seq ?? 0
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

/** The open siblings of a closed task, oldest first. */
export async function siblingsOf({ store }: Records, task: Task): Promise<Task[]> {
  if (task.group === undefined || isOpen(task)) return []
  const open = await store.readTasks({ repo: task.repo, open: true })
  return open.filter(({ group }) => group === task.group).toReversed()
}
