/** What was closed for long goes for good: its part of the trash, its steps, and every ref that held something of it. */
import { apart, type Failed } from '../base/failures.ts'
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

/** From its mark on nothing of such a task can be undone, and whoever finds the mark goes on. Answers how many went. */
export async function expire(
  ports: Ports,
  repo: Repo,
  due: readonly ClosedTask[],
  errors: Failed[],
  signal?: AbortSignal,
): Promise<number> {
  if (due.length === 0) return 0
  const now = () => ports.clock.now().toISOString()
  return whileNobodyWorks(ports, repo, due, signal, async (going) => {
    const mark = (marked: readonly Task[], type: 'expiry.begun' | 'expiry.done') =>
      appendAll(
        ports,
        marked.map(({ uid }) => ({ uid, event: { type } })),
        now(),
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
      await dropKept(ports, repo, uids, signal)
      await ports.care.compact(repo, { tasks: uids, operations: await operationsOf(ports, uids) }, signal)
      await mark(gone, 'expiry.done')
      expired = gone.length
    })
    return expired
  })
}

/**
 * Whoever is at work may count on an object that is about to go: what makes the vault smaller is done when nobody is.
 * Answers 0 when somebody is.
 */
export async function whileNobodyWorks(
  ports: Ports,
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

/** It may have come back since it was looked at, and have been closed anew. */
async function isAsItWas({ store }: Ports, { task: { uid }, lastAt }: ClosedTask): Promise<boolean> {
  const task = await store.findTaskByUid(uid)
  if (!task || isOpen(task) || task.pending) return false
  return (await store.readEvents({ uid, types: ['operation.done'] })).at(-1)?.at === lastAt
}

/**
 * What holds commits in the user's repository for the sake of these, and of any that went while that was not there. With
 * a repository that is gone its refs are gone.
 */
async function dropKept(
  ports: Ports,
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
  // Nobody would look for them once their tasks count as gone.
  throw new AppError('locked', `Refs below ${ownRefs}/ have changed meanwhile.`, {
    path: repo.commonDir,
    hint: 'The next prune goes on with it.',
  })
}

async function operationsOf({ store }: Ports, uids: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const uid of uids) {
    const events = await store.readEvents({ uid, types: ['operation.begun'] })
    found.push(...events.flatMap(({ event }) => (event.type === 'operation.begun' ? [event.id] : [])))
  }
  return found
}
