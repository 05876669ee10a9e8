/** Makes the events of a task again from the facts in the vault (docs/adr/0019-records-from-the-vault.md). Pure. */
import { reduce, type StoredEvent, type TaskEvent } from '../model/events.ts'
import type { Operation, OperationNote } from '../model/operation.ts'
import type { DiffStat, Step, StepFile } from '../model/step.ts'
import { isOpen, type Owner, type PortBlock, type Task } from '../model/task.ts'
import { movedTo } from '../operations/refs.ts'
import { overlap } from '../workspaces/port-block.ts'

export interface KnownTask {
  /** The record as of step 0. */
  readonly record: Task
  /** All steps, from 0 on. */
  readonly steps: readonly {
    readonly step: Step
    readonly files: readonly StepFile[]
    /** Changed files and lines against step 0. */
    readonly total: DiffStat
  }[]
  /** The completed operations, in order. */
  readonly done: readonly { readonly operation: Operation; readonly note: OperationNote }[]
  /** The operation that was under way when the records were lost. */
  readonly half: { readonly operation: Operation; readonly staged: boolean } | undefined
  /** The last commit of the task on its branch. */
  readonly published: string | undefined
  /** A pin or a folder of the task exists, or nobody can tell. */
  readonly isLeft: boolean
}

export type LogEntry = Pick<StoredEvent, 'uid' | 'event' | 'at'>

/** Stands for the owners of lost verbs: those processes are dead. */
const deadOwner: Owner = { pid: 0, startedAt: '', boot: '' }

/**
 * One log for all tasks, in the order of time. `taken` answers the open tasks whose id another open task has; `blocks` are
 * the port blocks of other tasks.
 */
export function rebuiltLog(
  known: readonly KnownTask[],
  isFree: (task: Task) => boolean,
  now: string,
  blocks: readonly PortBlock[] = [],
): { log: LogEntry[]; tasks: Task[]; taken: Task[] } {
  const [logs, tasks, taken] = [[] as LogEntry[][], [] as Task[], [] as Task[]]
  const open = new Set<string>()
  const given = [...blocks]
  // Of two open tasks with the same id, the newer one gets it.
  const newestFirst = known.toSorted((a, b) => b.record.createdAt.localeCompare(a.record.createdAt))
  for (const one of newestFirst) {
    const log = logOf(one, now)
    const task = log.reduce<Task | undefined>((before, { event, at }) => reduce(before, event, at), undefined)
    if (!task) continue
    const id = task.id.toLowerCase()
    if (isOpen(task) && (open.has(id) || !isFree(task))) {
      taken.push(task)
      continue
    }
    if (isOpen(task)) open.add(id)
    const block = isOpen(task) ? task.portBlock : undefined
    // The task may have been closed for a while, and another may have its ports now: the next run gets new ones.
    const isGiven = block !== undefined && given.some((other) => overlap(block, other))
    if (block && !isGiven) given.push(block)
    tasks.push(task)
    logs.push(isGiven ? logOf({ ...one, record: withoutPorts(one.record) }, now) : log)
  }
  return { log: mergeLogs(logs), tasks, taken }
}

function withoutPorts(record: Task): Task {
  const kept = Object.entries(record).filter(([key]) => key !== 'portBlock')
  return Object.fromEntries(kept) as unknown as Task
}

function logOf({ record, steps, done, half, published, isLeft }: KnownTask, now: string): LogEntry[] {
  const entry = (at: string) => (event: TaskEvent) => ({ uid: record.uid, event, at })
  const task = taskAtStart(record, new Set(steps.flatMap(({ step }) => step.run ?? [])).size)
  const begun = entry(record.createdAt)({ type: 'start.begun', task, owner: deadOwner })
  // The start of a shadow branch ends with an operation, not with `start.done`.
  const started = record.shadow ? [] : [entry(record.createdAt)({ type: 'start.done' })]
  const came = mergeLogs([steps.slice(1).map(checkpoint(entry)), done.flatMap(operation(entry))])
  const last = came.at(-1)?.at ?? record.createdAt
  const never = steps.length <= 1 && done.length === 0 && !half && !isLeft
  if (never)
    return [
      begun,
      entry(last)({ type: 'start.undone', reason: 'it did not end' }),
      entry(now)({ type: 'rebuilt' }),
    ]
  return [
    begun,
    ...started,
    ...came,
    ...(published === undefined
      ? []
      : [entry(last)({ type: 'publish.done', branch: record.branch, tip: published })]),
    entry(now)({ type: 'rebuilt' }),
    ...(half ? pendingEvents(half).map(entry(now)) : []),
  ]
}

/** Fields that a task gets later, from its events. */
const laterFields: ReadonlySet<string> = new Set([
  'pending',
  'reason',
  'unpublished',
  'leftOut',
  'trash',
  'closedAt',
  'closedBy',
  'landed',
  'hidden',
])

/** The record as `start.begun` had it, without later fields that step 0 may hold. */
function taskAtStart(record: Task, runs: number): Task {
  const kept = Object.entries(record).filter(([key]) => !laterFields.has(key))
  const none = { checkpoints: 0, files: 0, insertions: 0, deletions: 0 }
  const begun = { ...none, runs, state: 'pending', head: record.base.commit }
  return { ...Object.fromEntries(kept), ...begun } as unknown as Task
}

type Entry = (at: string) => (event: TaskEvent) => LogEntry

const checkpoint =
  (entry: Entry) =>
  ({ step, files, total }: KnownTask['steps'][number]): LogEntry => {
    const { n, commit, tool, summary, run, call, skipped } = step
    return entry(step.at)({ type: 'checkpoint', n, commit, tool, summary, run, call, files, skipped, total })
  }

const operation =
  (entry: Entry) =>
  ({ operation, note: { at: doneAt, patch, left } }: KnownTask['done'][number]): LogEntry[] => {
    const { id, verb, undoes, batch, final, at } = operation
    return [
      entry(at)({ type: 'operation.begun', id, verb, undoes, batch, final, owner: deadOwner }),
      entry(doneAt)({ type: 'operation.done', id, commit: movedTo(operation), patch, left }),
    ]
  }

function pendingEvents({
  operation: { id, verb, undoes, batch },
  staged,
}: NonNullable<KnownTask['half']>): TaskEvent[] {
  const begun: TaskEvent = { type: 'operation.begun', id, verb, undoes, batch, owner: deadOwner }
  return staged ? [begun, { type: 'operation.staged', id }] : [begun]
}

/** Merges logs by time. Each keeps its own order, even if the clock was set back in the middle of it. */
function mergeLogs(logs: readonly (readonly LogEntry[])[]): LogEntry[] {
  const timed = logs.flatMap((log) => {
    let latest = ''
    return log.map((entry) => {
      latest = entry.at > latest ? entry.at : latest
      return { entry, latest }
    })
  })
  return timed.sort((a, b) => a.latest.localeCompare(b.latest)).map(({ entry }) => entry)
}
