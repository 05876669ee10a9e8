/**
 * Deletes tasks for good that were closed long ago: their part of the trash, their steps, and the refs that kept their
 * commits (docs/adr/0025-expiry-is-announced.md).
 */
import { apart, type Failed } from '../base/failures.ts'
import { now } from '../base/time.ts'
import { AppError } from '../model/errors.ts'
import { ownRefs, strayPins, trashRefs, uidOfKept } from '../model/refs.ts'
import type { Repo } from '../model/repo.ts'
import { isOpen, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { holdFree } from '../tasks/hold.ts'
import { readKnown } from '../tasks/known.ts'
import { appendAll } from '../tasks/records.ts'
import { isGone } from '../tasks/repo.ts'
import type { ClosedTask } from './retention.ts'

/**
 * Answers how many tasks are gone. From `expiry.begun` on nothing of a task can be undone; if the process dies after it,
 * the next prune goes on.
 */
export async function expire(
  ports: Ports,
  repo: Repo,
  due: readonly ClosedTask[],
  errors: Failed[],
  signal?: AbortSignal,
): Promise<number> {
  if (due.length === 0) return 0
  return whileNobodyWorks(ports, repo, due, signal, async (going) => {
    const mark = (marked: readonly Task[], type: 'expiry.begun' | 'expiry.done') =>
      appendAll(
        ports,
        marked.map(({ uid }) => ({ uid, event: { type } })),
        now(ports),
      )
    await mark(going, 'expiry.begun')
    const gone: Task[] = []
    for (const task of going) {
      await apart([task], errors, async () => {
        if (task.trash !== undefined) await ports.files.remove(task.trash)
        gone.push(task)
      })
    }
    if (gone.length === 0) return 0
    let expired = 0
    await apart(gone, errors, async () => {
      const uids = gone.map(({ uid }) => uid)
      await deleteKeptRefs(ports, repo, uids, signal)
      await ports.care.compact(repo, { tasks: uids, operations: await operationsOf(ports, uids) }, signal)
      await mark(gone, 'expiry.done')
      expired = gone.length
    })
    return expired
  })
}

/**
 * Shrinking the vault may delete an object that a running verb still needs, so this holds the lock of every open task
 * first. Answers 0 without running `work` when one of them is held by another process.
 */
export async function whileNobodyWorks(
  ports: Pick<Ports, 'locks' | 'store'>,
  repo: Repo,
  closed: readonly ClosedTask[],
  signal: AbortSignal | undefined,
  work: (closed: readonly Task[]) => Promise<number>,
): Promise<number> {
  const open = await ports.store.readTasks({ repo: repo.id, open: true })
  const named = [...closed.map(({ task }) => task), ...open]
  return holdFree(ports, named, { verb: 'prune', signal }, async (free) => {
    const held = new Set(free.map(({ uid }) => uid))
    if (!open.every(({ uid }) => held.has(uid))) return 0
    const still: Task[] = []
    for (const one of closed)
      if (held.has(one.task.uid) && (await isAsItWas(ports, one))) still.push(one.task)
    return work(still)
  })
}

/** Whether the task is still closed by the same operation. An undo may have opened it, and another verb closed it again. */
async function isAsItWas(
  { store }: Pick<Ports, 'store'>,
  { task: { uid }, lastAt }: ClosedTask,
): Promise<boolean> {
  const task = await store.findTaskByUid(uid)
  if (!task || isOpen(task) || task.pending) return false
  return (await store.readEvents({ uid, types: ['operation.done'] })).at(-1)?.at === lastAt
}

/**
 * Deletes the refs that keep commits of these tasks in the user's repository, and of tasks that expired while the repository
 * was missing. A repository that is missing now is skipped.
 */
async function deleteKeptRefs(
  ports: Pick<Ports, 'files' | 'refs' | 'store'>,
  repo: Repo,
  uids: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const { refs, store } = ports
  if (await isGone(ports, repo)) return
  const there = await refs.readRefs(repo.place, [trashRefs, strayPins], signal)
  const known = await readKnown(
    store,
    Array.from(there.keys()).flatMap((ref) => uidOfKept(ref) ?? []),
  )
  const isTheirs = (ref: string) => {
    const uid = uidOfKept(ref)
    return uid !== undefined && (uids.includes(uid) || known.get(uid)?.expiry === 'done')
  }
  const changes = Array.from(there, ([ref, old]) => ({ ref, old, new: null })).filter(({ ref }) =>
    isTheirs(ref),
  )
  if (changes.length === 0 || (await refs.changeRefs(repo.place, changes, 'offshoot: expire', signal))) return
  // Once the tasks are marked as expired, nothing would delete these refs.
  throw new AppError('locked', `Refs below ${ownRefs}/ have changed meanwhile.`, {
    path: repo.commonDir,
  })
}

async function operationsOf({ store }: Pick<Ports, 'store'>, uids: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const uid of uids) {
    const events = await store.readEvents({ uid, types: ['operation.begun'] })
    found.push(...events.flatMap(({ event }) => (event.type === 'operation.begun' ? [event.id] : [])))
  }
  return found
}
