/** Finds the repository and the task that a program means who knows only their ids. */
import { AppError } from '../core/model/errors.ts'
import { repoRoot } from '../core/model/repo.ts'
import { isOpen, type Task } from '../core/model/task.ts'
import type { Records } from '../core/ports/index.ts'
import { findRepo } from '../core/tasks/repo.ts'
import type { Meant } from '../protocol/second-names.ts'

/** As an action takes them: a folder, and the id of a task. */
export interface Named {
  readonly repo: string
  readonly task?: string
}

/**
 * With the id of a task that is not there yet, a repository has to be named. Throws `notFound` for an unknown repository,
 * `noSuchTask` for an unknown task without a repository, `wrongUsage` when neither is named or several tasks have the id.
 */
export async function findNamed(records: Records, { repository, folder, task: name }: Meant): Promise<Named> {
  const record = repository === undefined ? undefined : await requireRecord(records, repository)
  const where = folder ?? (record && repoRoot(record.commonDir))
  const id = record?.id ?? (folder === undefined ? undefined : (await findRepo(records, folder)).repo?.id)
  const task =
    name === undefined
      ? undefined
      : await findTask(records, name, where === undefined ? undefined : (id ?? ''))
  if (task) return { repo: where ?? (await placeOf(records, task)), task: task.id }
  if (where !== undefined) return { repo: where, ...(name !== undefined && { task: name }) }
  if (name === undefined)
    throw new AppError('wrongUsage', 'No repository is named.', {
      hint: 'Give repository_id, which system.repos lists, or repository_path.',
    })
  throw new AppError('noSuchTask', `There is no task ${name}.`)
}

async function requireRecord({ repos }: Records, id: string) {
  const found = await repos.findById(id)
  if (found) return found
  throw new AppError('notFound', `offshoot knows no repository ${JSON.stringify(id)}.`, {
    hint: 'system.repos lists the ids. Name a repository that is new to offshoot by repository_path.',
  })
}

/** By its uid or its id, in one repository or in all; an open one before a closed one, then the newest. */
async function findTask(
  { store }: Records,
  name: string,
  repo: string | undefined,
): Promise<Task | undefined> {
  const byUid = await store.findTaskByUid(name)
  if (byUid && !byUid.hidden && (repo === undefined || byUid.repo === repo)) {
    // An action takes the id, which another task may have by now.
    const meant = await store.findTask(byUid.repo, byUid.id)
    if (meant?.uid === byUid.uid) return byUid
    throw new AppError('noSuchTask', `The task ${name} is closed, and another one has its id, ${byUid.id}.`)
  }
  if (repo !== undefined) return store.findTask(repo, name)
  const found = (await store.readTasks({})).filter(({ id }) => id === name)
  const open = found.filter(isOpen)
  if (open.length > 1)
    throw new AppError('wrongUsage', `Tasks of several repositories have the id ${name}.`, {
      hint: 'Say which repository: repository_id. Or name the task by its uid.',
    })
  return open[0] ?? found[0]
}

/** The checkout that the task was started in; if that is gone, the main one. */
async function placeOf({ files, repos }: Records, task: Task): Promise<string> {
  if ((await files.readKind(task.origin)) === 'folder') return task.origin
  const record = await repos.findById(task.repo)
  return record ? repoRoot(record.commonDir) : task.origin
}
