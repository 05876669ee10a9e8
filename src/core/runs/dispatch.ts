/** Starts the queued runs whose turn it is, each in a process of its own that outlives the daemon (docs/adr/0065-the-queue-is-in-the-log.md). */
import { pause } from '../base/pause.ts'
import { now } from '../base/time.ts'
import { AppError, appError, problemOf } from '../model/errors.ts'
import { isQueued } from '../model/events.ts'
import { entryVariable } from '../model/queue.ts'
import { runLock, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { append } from '../tasks/records.ts'
import { nextRuns, type Turn, type Waiting } from './next-runs.ts'
import { dropOrder, findOrder, readOrdered } from './orders.ts'
import { readQueue } from './queue-facts.ts'
import { runLog } from './run-log.ts'

/** How long the last run of a task may take to let go of it after its end; and after which time a busy task is tried again. */
const letGoMs = 60_000
const againMs = 1000

export interface Dispatched {
  readonly started: number
  readonly waiting: number
  readonly atWork: number
  /** The process of a run died: recovery has to end the run before its task has room for another. */
  readonly hasDead: boolean
}

export interface Dispatcher {
  /** Looks at the queue once, and starts what may start. */
  dispatch(): Promise<Dispatched>
  /** Deletes the orders of runs that are in no queue any more; before the first dispatch. */
  tidy(): Promise<void>
  /** Resolves when no run is between its start and its beginning. */
  settle(): Promise<void>
}

/** `told` hears how the start of each run went. */
export function openDispatcher(
  ports: Ports,
  told: (task: Task, entry: string, failure?: AppError) => void,
  signal: AbortSignal,
): Dispatcher {
  const starting = new Map<string, Turn>()
  const starts = new Map<string, Promise<void>>()
  const served = new Map<string, number>()

  async function start(task: Task, { entry }: Waiting): Promise<void> {
    const failure = await begin(ports, task, entry, signal).then(
      () => undefined,
      (thrown: unknown) => appError(thrown),
    )
    // A run whose process was started goes on without us.
    if (failure && signal.aborted) return
    // Somebody else works in the task: it stays in the queue.
    if (failure?.problem === 'locked') return pause(againMs, signal)
    if (failure) await giveUp(ports, task, entry, failure)
    else await dropOrder(ports, entry)
    told(task, entry, failure)
  }

  return {
    async dispatch() {
      const facts = await readQueue(ports, { starting, served })
      const chosen = signal.aborted ? [] : nextRuns(facts)
      for (const run of chosen) {
        const { entry } = run
        starting.set(entry, { task: run.task, repo: run.repo, agent: run.agent })
        served.set(run.repo, facts.now)
        const forget = () => {
          starting.delete(entry)
          starts.delete(entry)
        }
        const begun = start(facts.tasks.get(run.task)!, run).catch(() => {})
        starts.set(entry, begun.then(forget))
      }
      return {
        started: chosen.length,
        waiting: facts.waiting.length - chosen.length,
        atWork: facts.atWork.length + chosen.length,
        hasDead: facts.hasDead,
      }
    },
    async tidy() {
      const queued = (await ports.store.readTasks({ open: true })).flatMap((task) => task.queued ?? [])
      const known = new Set(queued.map(({ entry }) => entry))
      for (const entry of await readOrdered(ports)) if (!known.has(entry)) await dropOrder(ports, entry)
    },
    async settle() {
      await Promise.all(starts.values())
    },
  }
}

/** Resolves when the run has begun: then its place in the queue is gone from the log. */
async function begin(ports: Ports, task: Task, entry: string, signal: AbortSignal): Promise<void> {
  const order = await findOrder(ports, entry)
  if (!order)
    throw new AppError('failed', 'What the run was to do is not in the records any more.', {
      hint: 'Ask for it again.',
    })
  // The run before is over for the log before its process has let go of the task.
  const waiting = { verb: 'run', waitMs: letGoMs, signal }
  await ports.locks.hold(runLock(task.uid), waiting, async () => {})
  const cleanup = order.input.cleanup ? ['--cleanup'] : []
  const call = {
    words: ['run', `--task=${task.id}`, '--json', '--quiet', ...cleanup],
    dir: order.input.dir,
    log: runLog(ports.home, task),
    env: { [entryVariable]: entry },
    waits: true,
  }
  const { first } = await ports.detachedRuns.start(call, signal)
  if (first.error === undefined) return
  const { code, message, hint } = first.error as { code: string; message: string; hint: string }
  throw new AppError(problemOf(code), message, { hint })
}

/** Takes a run that could not be begun off the queue, so that it is not tried for ever. */
async function giveUp(ports: Ports, { uid }: Task, entry: string, failure: AppError): Promise<void> {
  const task = await ports.store.findTaskByUid(uid)
  const { message: reason, code, hint } = failure
  if (task && isQueued(task, entry))
    await append(ports, uid, { type: 'run.unqueued', entry, reason, error: { code, hint } }, now(ports))
  await dropOrder(ports, entry)
}
