/** The operations of a repository, from the log of events. */
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'

export interface KnownOperation {
  readonly id: string
  readonly verb: string
  readonly task: string
  readonly at: string
  readonly undone: boolean
  readonly undoes?: string | undefined
  /** The same for all operations of one prune; else the id of the operation that it belongs to. */
  readonly batch?: string | undefined
  /** Why it cannot be undone. */
  readonly final?: string | undefined
  /** Too old to be undone. */
  readonly expired: boolean
}

export async function operationsOf(ports: Pick<Ports, 'store'>, repo: Repo): Promise<KnownOperation[]> {
  const known = new Map<string, Omit<KnownOperation, 'id' | 'undone'>>()
  const done: string[] = []
  const tasks = new Map<string, Task | undefined>()
  for (const { uid, at, event } of await ports.store.readEvents({
    types: ['operation.begun', 'operation.done'],
  })) {
    if (!tasks.has(uid)) tasks.set(uid, await ports.store.findTaskByUid(uid))
    const task = tasks.get(uid)
    if (task?.repo !== repo.id) continue
    // The start of a shadow branch is undone by reject, not by undo.
    if (event.type === 'operation.begun' && event.verb !== 'start')
      known.set(event.id, {
        verb: event.verb,
        task: task.id,
        at,
        undoes: event.undoes,
        batch: event.batch,
        final: event.final,
        expired: task.expiry !== undefined,
      })
    if (event.type === 'operation.done') done.push(event.id)
  }
  const undone = undoneOf(done.map((id) => ({ id, undoes: known.get(id)?.undoes })))
  return done.reverse().flatMap((id) => {
    const operation = known.get(id)
    return operation ? [{ id, ...operation, undone: undone.has(id) }] : []
  })
}

/** The ids of the repositories that have an operation whose id begins so. */
export async function reposWith({ store }: Pick<Ports, 'store'>, prefix: string): Promise<string[]> {
  const repos = new Set<string>()
  for (const { uid, event } of await store.readEvents({ types: ['operation.done'] })) {
    if (event.type !== 'operation.done' || !event.id.startsWith(prefix)) continue
    const task = await store.findTaskByUid(uid)
    if (task) repos.add(task.repo)
  }
  return [...repos]
}

/** The operations that an undo took back, unless that undo was undone itself. */
export function undoneOf(done: readonly { id: string; undoes?: string | undefined }[]): Set<string> {
  const undone = new Set<string>()
  for (const { id, undoes } of done.toReversed())
    if (undoes !== undefined && !undone.has(id)) undone.add(undoes)
  return undone
}

/**
 * What is undone with an operation: what belongs to it, such as the rejects of its siblings to an accept. If the user named
 * none, and the last one belongs to another, then all of that one. The one that the others belong to comes first, then the
 * oldest (docs/adr/0049-undone-together.md). Pure.
 */
export function undoneTogether(
  all: readonly KnownOperation[],
  chosen: KnownOperation,
  isNamed: boolean,
): readonly KnownOperation[] {
  const whole = (!isNamed && all.find(({ id }) => id === chosen.batch)) || chosen
  const belonging = all.filter(({ batch }) => batch === whole.id).toReversed()
  const open = [whole, ...belonging].filter(
    ({ undone, expired, final }) => !undone && !expired && final === undefined,
  )
  return open.length > 0 ? open : [chosen]
}
