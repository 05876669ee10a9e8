/**
 * What lies in the trash and belongs to no operation: what stood in the way of a rewind or a recreation, what was left of
 * a start or of a closed task. It goes when it has been there for as long as the trash keeps anything.
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
  /** Whose it was. */
  readonly task: Task
}

/** What has been there for so long, as far as the clock can tell. */
export async function findDueLoose(ports: Ports, repo: Repo, keepDays: number): Promise<DueLoose[]> {
  const due: DueLoose[] = []
  for (const loose of await findLoose(ports, repo)) {
    const since = await findDueSince(ports, loose, keepDays)
    if (since) due.push({ ...loose, since })
  }
  return due
}

interface DueLoose extends Loose {
  readonly since: Date
}

async function findDueSince(
  { files, clock }: Ports,
  { folder }: Loose,
  keepDays: number,
): Promise<Date | undefined> {
  const since = await files.readTime(folder)
  return since && isPast(since, keepDays, clock.now()) ? since : undefined
}

/** Answers how many folders went. */
export async function expireLoose(
  ports: Ports,
  due: readonly Loose[],
  keepDays: number,
  errors: Failed[],
  signal?: AbortSignal,
): Promise<number> {
  let gone = 0
  for (const loose of due) {
    // Whoever is at work may be about to put something there.
    const going = () =>
      holdFree(ports, [loose.task], { verb: 'prune', signal }, async ([free]) => {
        if (!free || !(await findDueSince(ports, loose, keepDays))) return
        await ports.files.remove(loose.folder)
        gone += 1
      })
    await apart([loose.task], errors, going)
  }
  return gone
}

async function findLoose(ports: Ports, repo: Repo): Promise<Loose[]> {
  const { store } = ports
  const used = await usedTrash(store)
  const undone = (await undoneStarts(store)).filter(({ task }) => task.repo === repo.id)
  const tasks = (await store.readTasks({ repo: repo.id })).filter((task) => !task.pending && !task.shadow)
  return [...undone, ...(await namedAfter(ports, tasks))].filter(({ folder }) => !used.has(folder))
}

/** Of every repository, as several may share a base; and of tasks that are hidden, which can come back as well. */
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

/** By its name alone something is ours: in a base of the user's choice there may be a `.trash` of somebody else's. */
async function namedAfter(ports: Ports, tasks: readonly Task[]): Promise<Loose[]> {
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
