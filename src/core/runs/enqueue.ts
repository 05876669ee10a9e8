/** Puts a run into the queue, takes one off it, and waits a moment for its turn. */
import { pause } from '../base/pause.ts'
import { now } from '../base/time.ts'
import { AppError, problemOf } from '../model/errors.ts'
import { isQueued } from '../model/events.ts'
import type { Metadata, QueuedRun } from '../model/queue.ts'
import { commandLine } from '../model/redact.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { append } from '../tasks/records.ts'
import type { DetachInput } from './detached-words.ts'
import { nextRuns } from './next-runs.ts'
import { dropOrder, putOrder } from './orders.ts'
import { readQueue } from './queue-facts.ts'
import { inShort } from './wrap.ts'

export interface QueueInput extends DetachInput {
  /** A higher one starts first; 0 by default. */
  readonly priority?: number | undefined
  readonly metadata?: Metadata | undefined
}

/** Answers the place in the queue. */
export async function enqueue(ports: Ports, task: Task, agent: string, asked: QueueInput): Promise<string> {
  const { priority = 0, metadata, ...given } = asked
  // The task is there, so what makes a new one is left out.
  const input = { ...given, task: task.id, base: undefined, from: undefined, branch: undefined }
  const entry = ports.ids.uid()
  const what = inShort(asked.prompt ?? commandLine(asked.argv ?? []))
  await putOrder(ports, entry, { input: { ...input, isolation: undefined }, task: task.uid })
  const event = { type: 'run.queued', entry, agent, what, priority, ...(metadata && { metadata }) } as const
  await append(ports, task.uid, event, now(ports))
  return entry
}

/** Takes all runs of the task off the queue; answers how many there were. */
export async function unqueueAll(ports: Ports, { uid, queued = [] }: Task, reason: string): Promise<number> {
  for (const { entry } of queued) await unqueue(ports, uid, entry, reason)
  return queued.length
}

async function unqueue(ports: Ports, uid: string, entry: string, reason: string): Promise<void> {
  await append(ports, uid, { type: 'run.unqueued', entry, reason }, now(ports))
  await dropOrder(ports, entry)
}

/** How long a run that has room may take to begin before it counts as one that waits. */
const patienceMs = 10_000
const lookMs = 50

export type Enqueued = { readonly pid: number } | { readonly queued: QueuedRun }

/**
 * Waits until the run has begun, if it can begin now. Throws the error of a run that could not; whoever cancels the wait
 * takes the run off the queue, unless it has begun.
 */
export async function awaitTurn(
  ports: Ports,
  { uid }: Task,
  entry: string,
  signal?: AbortSignal,
): Promise<Enqueued> {
  for (const until = performance.now() + patienceMs; ; await pause(lookMs, signal)) {
    const task = await ports.store.findTaskByUid(uid)
    const queued = task?.queued?.find((one) => one.entry === entry)
    if (!queued) return { pid: await requireBegun(ports, uid, entry) }
    if (signal?.aborted) {
      await unqueue(ports, uid, entry, 'Cancelled before it began.')
      continue
    }
    const isNext = nextRuns(await readQueue(ports)).some((one) => one.entry === entry)
    if (!isNext && (await stillQueued(ports, uid, entry))) return { queued }
    if (performance.now() > until) return { queued }
  }
}

/** Its task became busy by its own beginning, perhaps. */
async function stillQueued({ store }: Pick<Ports, 'store'>, uid: string, entry: string): Promise<boolean> {
  const task = await store.findTaskByUid(uid)
  return task !== undefined && isQueued(task, entry)
}

async function requireBegun({ store }: Pick<Ports, 'store'>, uid: string, entry: string): Promise<number> {
  for (const { event } of await store.readEvents({ uid, types: ['run.begun', 'run.unqueued'] })) {
    if (event.type === 'run.begun' && event.entry === entry) return event.owner.pid
    if (event.type !== 'run.unqueued' || event.entry !== entry) continue
    const { reason, error } = event
    if (!error) throw new AppError('cancelled', reason)
    throw new AppError(problemOf(error.code), reason, { hint: error.hint })
  }
  throw new AppError('cancelled', 'The task was closed before its run began.')
}
