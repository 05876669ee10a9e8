/**
 * Loose folders: folders in the trash that belong to no operation. A rewind or a recreation moved them out of its way, or a
 * failed start or a closed task left them. They are deleted after `trash.keepDays`.
 */
import path from 'node:path'
import { apart, type Failed } from '../base/failures.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import { isInTrash, trashBeside, workspaceOfTrash } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'
import type { Store } from '../ports/store.ts'
import { holdFree } from '../tasks/hold.ts'
import { readKnown } from '../tasks/known.ts'
import { isPast } from './retention.ts'

interface Loose {
  readonly folder: string
  /** The task that it belonged to. */
  readonly task: Task
}

/** The loose folders that are older than `keepDays`, by the present clock. */
export async function findDueLoose(
  ports: Pick<Ports, 'clock' | 'files' | 'store'>,
  repo: Repo,
  keepDays: number,
): Promise<DueLoose[]> {
  const due: DueLoose[] = []
  for (const loose of await findLoose(ports, repo)) {
    const since = await findDueSince(ports, loose, keepDays)
    if (since) due.push({ ...loose, since })
  }
  return due
}

export interface DueLoose extends Loose {
  readonly since: Date
}

async function findDueSince(
  { files, clock }: Pick<Ports, 'clock' | 'files'>,
  { folder }: Loose,
  keepDays: number,
): Promise<Date | undefined> {
  const since = await files.readTime(folder)
  return since && isPast(since, keepDays, clock.now()) ? since : undefined
}

/** Answers how many folders went. */
export async function expireLoose(
  ports: Pick<Ports, 'clock' | 'files' | 'locks'>,
  due: readonly Loose[],
  keepDays: number,
  errors: Failed[],
  signal?: AbortSignal,
): Promise<number> {
  let gone = 0
  for (const loose of due) {
    // A verb at work on the task may be about to put something there.
    const deleteFolder = () =>
      holdFree(ports, [loose.task], { verb: 'prune', signal }, async ([free]) => {
        if (!free || !(await findDueSince(ports, loose, keepDays))) return
        await ports.files.remove(loose.folder)
        gone += 1
      })
    await apart([loose.task], errors, deleteFolder)
  }
  return gone
}

async function findLoose(ports: Pick<Ports, 'files' | 'store'>, repo: Repo): Promise<Loose[]> {
  const { store } = ports
  const used = await usedTrash(store)
  const undone = (await undoneStarts(store)).filter(({ task }) => task.repo === repo.id)
  const tasks = (await store.readTasks({ repo: repo.id })).filter((task) => !task.pending && !task.shadow)
  return [...undone, ...(await findNamedAfter(ports, tasks))].filter(({ folder }) => !used.has(folder))
}

/**
 * The folders in the trash that an undo may need: of every repository, because several may share a base, and of hidden
 * tasks, because an undo can bring those back, too.
 */
export async function usedTrash(store: Store): Promise<ReadonlySet<string>> {
  const uids = new Set((await store.readEvents({ types: ['operation.done'] })).map(({ uid }) => uid))
  const tasks = await readKnown(store, uids)
  return new Set([...tasks.values()].flatMap(({ trash }) => trash ?? []))
}

export async function undoneStarts(store: Store): Promise<Loose[]> {
  const events = await store.readEvents({ types: ['start.undone'] })
  const tasks = await readKnown(
    store,
    events.map(({ uid }) => uid),
  )
  return events.flatMap(({ uid, event }) => {
    const task = tasks.get(uid)
    if (event.type !== 'start.undone' || !event.trash || !task) return []
    return isInTrash(event.trash) ? [{ folder: event.trash, task }] : []
  })
}

/** Folders named after a workspace. Others are not ours: the user's `workspace.base` may have a `.trash` of another tool. */
async function findNamedAfter(ports: Pick<Ports, 'files'>, tasks: readonly Task[]): Promise<Loose[]> {
  const found: Loose[] = []
  const bases = Map.groupBy(tasks, (task) => trashBeside(task.path))
  for (const [trash, own] of bases) {
    const byName = new Map(own.map((task) => [path.basename(task.path), task]))
    for (const name of await ports.files.readNames(trash)) {
      const task = byName.get(name) ?? byName.get(workspaceOfTrash(name))
      if (task) found.push({ folder: path.join(trash, name), task })
    }
  }
  return found
}
