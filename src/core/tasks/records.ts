/**
 * Appends events to the logs of tasks: masks secrets, computes the new record, seals each entry onto the one before, and has
 * the store write all of it in one change (docs/adr/0026-a-thin-asynchronous-store.md, docs/adr/0020-the-log-is-sealed.md).
 */
import { type LoggedEvent, sealOf } from '../model/seal.ts'
import { AppError } from '../model/errors.ts'
import { reduce, type StoredEvent, type TaskEvent } from '../model/events.ts'
import { entryText } from '../model/entry.ts'
import type { Change, Position, TaskChange } from '../model/change.ts'
import type { Store } from '../ports/store.ts'
import type { Processes } from '../ports/processes.ts'
import { withoutSecrets } from '../model/redact.ts'
import { isOpen, type Task } from '../model/task.ts'

/** The store, and the process whose pid each entry gets. */
export interface Writer {
  readonly store: Store
  readonly processes: Pick<Processes, 'self'>
}

export type Told = Pick<StoredEvent, 'uid' | 'event' | 'at'>

/**
 * Appends to the task's log and answers the task as it now is. `expected` is the number of events the caller has seen;
 * throws `locked` when another writer was faster, `taskIdTaken` when the id is taken by another open task.
 */
export async function append(
  writer: Writer,
  uid: string,
  event: TaskEvent,
  at: string,
  expected?: number,
): Promise<Task> {
  const seen = expected === undefined ? undefined : new Map([[uid, expected]])
  const tasks = await write(writer.store, [{ uid, event, at }], seen, writer.processes.self().pid)
  return tasks.get(uid)!
}

/** Appends to several tasks, all or nothing. Answers the task of each event, in that order. */
export async function appendAll(
  writer: Writer,
  events: readonly { readonly uid: string; readonly event: TaskEvent }[],
  at: string,
): Promise<Task[]> {
  const told = events.map(({ uid, event }) => ({ uid, event, at }))
  const tasks = await write(writer.store, told, undefined, writer.processes.self().pid)
  return told.map(({ uid }) => tasks.get(uid)!)
}

/**
 * Appends whole logs for tasks without a log, in the order of time, all or nothing. A task that has lost only its record
 * gets it again from the events that are there.
 */
export async function adopt({ store }: Pick<Writer, 'store'>, log: readonly Told[]): Promise<void> {
  const uids = new Set(log.map(({ uid }) => uid))
  const { versions } = await store.readPosition([...uids])
  const lost: TaskChange[] = []
  for (const uid of uids) {
    const made = versions.has(uid) ? undefined : await readFolded(store, uid)
    if (made?.task) lost.push({ task: made.task, from: 0, to: made.version })
  }
  const made = new Set(lost.map(({ task }) => task.uid))
  const told = log.filter(({ uid }) => !made.has(uid))
  await write(store, told, new Map(Array.from(uids, (uid) => [uid, 0])), undefined, lost)
}

/**
 * Makes unreadable records again from their events, if no event is missing; answers the ids. Changes nothing when anything
 * else is damaged.
 */
export async function mendRecords({ store }: Pick<Writer, 'store'>): Promise<string[]> {
  const uids = (await store.inspect()).map(({ uid }) => uid)
  if (uids.length === 0 || !uids.every((uid) => uid !== undefined)) return []
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { versions, ...after } = await store.readPosition(uids)
    const tasks: TaskChange[] = []
    for (const uid of uids) {
      const { task, version } = await readFolded(store, uid)
      if (task && version === versions.get(uid)) tasks.push({ task, from: version, to: version })
    }
    if (tasks.length === 0) return []
    if ((await store.append({ after, entries: [], tasks })) === 'done')
      return tasks.map(({ task }) => task.id)
  }
  throw busy()
}

/** The record that results from the events of a task, and their number. */
async function readFolded(store: Store, uid: string): Promise<{ task: Task | undefined; version: number }> {
  const events = await store.readEvents({ uid })
  const task = events.reduce<Task | undefined>(
    (before, { event, at }) => reduce(before, event, at),
    undefined,
  )
  return { task, version: events.length }
}

/** Each attempt waits for the present writer; of all that wait, one succeeds, and the others find their change stale. */
const attempts = 10_000

async function write(
  store: Store,
  told: readonly Told[],
  expected: ReadonlyMap<string, number> | undefined,
  pid: number | undefined,
  lost: readonly TaskChange[] = [],
): Promise<ReadonlyMap<string, Task>> {
  const safe = told.map(({ uid, event, at }) => ({ uid, event: withoutSecrets(event), at }))
  const uids = [...new Set(told.map(({ uid }) => uid))]
  if (uids.length === 0 && lost.length === 0) return new Map()
  for (let attempt = 0; attempt < attempts; attempt++) {
    // Reads the versions before the tasks: if a task changes in between, its version is stale, and the append is retried.
    const position = await store.readPosition([...uids, ...lost.map(({ task }) => task.uid)])
    const tasks = new Map<string, Task | undefined>()
    for (const uid of uids) tasks.set(uid, await store.findTaskByUid(uid))
    requireSeen(position, tasks, expected)
    for (const { task } of lost) requireSeen(position, new Map([[task.uid, task]]), expected)
    const change = changeOf(position, tasks, safe, pid)
    const appended = await store.append({ ...change, tasks: [...lost, ...change.tasks] })
    if (appended === 'done') return new Map(change.tasks.map(({ task }) => [task.uid, task]))
    if (appended === 'taken') throw await taken(store, change.tasks)
  }
  throw busy()
}

function busy(): AppError {
  return new AppError('locked', 'Other processes keep the records busy.')
}

/** The rows to write for these events. Pure. */
function changeOf(
  { seq, seal, versions }: Position,
  tasks: ReadonlyMap<string, Task | undefined>,
  told: readonly Told[],
  pid: number | undefined,
): Change {
  const changes = new Map<string, TaskChange>()
  const entries: Omit<LoggedEvent, 'seq'>[] = []
  let before = seal
  for (const { uid, event, at } of told) {
    const from = versions.get(uid) ?? 0
    const last = changes.get(uid)
    const task = reduce(last?.task ?? tasks.get(uid), event, at)
    if (!task) throw new AppError('noSuchTask', `There is no task with the uid ${uid}.`, { data: { uid } })
    const n = (last?.to ?? from) + 1
    changes.set(uid, { task, from, to: n })
    const entry = { uid, n, at, type: event.type, text: entryText(event, pid) }
    before = sealOf(before, entry)
    entries.push({ ...entry, seal: before })
  }
  // A closing task is written first, so that another one can take its id in the same change.
  const [closing, others] = [[] as TaskChange[], [] as TaskChange[]]
  for (const change of changes.values())
    (change.from > 0 && !isOpen(change.task) ? closing : others).push(change)
  return { after: { seq, seal }, entries, tasks: [...closing, ...others] }
}

function requireSeen(
  { versions }: Position,
  tasks: ReadonlyMap<string, Task | undefined>,
  expected: ReadonlyMap<string, number> | undefined,
): void {
  for (const [uid, task] of tasks) {
    const [seen, version] = [expected?.get(uid), versions.get(uid) ?? 0]
    if (seen !== undefined && seen !== version) throw overtaken(task?.id ?? uid, { expected: seen, version })
  }
}

function overtaken(task: string, data: { expected: number; version: number }): AppError {
  return new AppError('locked', `Another process changed the task ${task} in the meantime.`, {
    data,
  })
}

/** The error for the first task whose id another open task has. */
async function taken(store: Store, changes: readonly TaskChange[]): Promise<AppError> {
  for (const { task } of changes.filter(({ task }) => isOpen(task))) {
    const open = await store.readTasks({ repo: task.repo, open: true })
    const other = open.find(({ uid, id }) => uid !== task.uid && id.toLowerCase() === task.id.toLowerCase())
    if (other) return idTaken(task.id, other)
  }
  return idTaken(changes.at(-1)?.task.id ?? '', undefined)
}

function idTaken(id: string, other: Task | undefined): AppError {
  const message =
    other === undefined || other.id === id
      ? `A task with the id ${id} is open already.`
      : `The open task ${other.id} differs from ${id} in upper and lower case only.`
  return new AppError('taskIdTaken', message, {
    path: other?.path,
    hint: 'Choose another id; offshoot list shows those that are taken.',
    data: { id, existing: other?.id },
  })
}
