/** The verb detach: leaves a run to a process of its own, which the daemon starts when it is its turn, if one runs. */
import type { Watch } from '../base/watch.ts'
import type { CommandCall } from '../model/command.ts'
import { AppError, problemOf } from '../model/errors.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { detachedWords } from '../runs/detached-words.ts'
import { awaitTurn, enqueue, type Enqueued, type QueueInput } from '../runs/enqueue.ts'
import { isKept } from '../runs/keeper.ts'
import { labelOf, planRun } from '../runs/plan-run.ts'
import { flagsOf } from '../runs/run-input.ts'
import { runLog } from '../runs/run-log.ts'
import { requireResumed, requireStarted } from '../runs/run-task.ts'
import { requireEnabled, requireOpen } from '../tasks/guards.ts'
import { findRepo } from '../tasks/repo.ts'

export type Detached = {
  readonly task: Task
  /** The file that the run writes its events to. */
  readonly log: string
} & Enqueued

/** How long a question waits where the settings leave it open: nobody is at the terminal of a detached run. */
const patience = '10m'

/** Makes the task here, so that its id is known, and returns when the run in the other process has begun, or waits. */
export async function detach(
  ports: Ports,
  asked: QueueInput & Pick<CommandCall, 'onOutput'>,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Detached> {
  const { onOutput, ...input } = asked
  const { place } = await findRepo(ports, input.dir)
  const settings = await ports.settings.read(place.checkout, flagsOf(input))
  requireEnabled(settings)
  const resumed = input.resume ? (await requireResumed(ports, input)).task : undefined
  // A command of the user's own takes no turn, so it need not wait for one.
  const isQueued = (input.create || input.prompt !== undefined) && (await isKept(ports))
  const plan = isQueued ? await planRun(ports, input, resumed) : undefined
  const named = resumed ?? (await requireStarted(ports, input, onOutput, signal, watch)).task
  const task = await requireOpen(ports, named)
  const { askTimeout } = settings.policy
  const order = { ...input, askTimeout: askTimeout === 'auto' ? patience : askTimeout }
  const log = runLog(ports.home, task)
  if (!plan) return { task, log, pid: await startNow(ports, order, task, log, signal) }
  const entry = await enqueue(ports, task, labelOf(plan.agent, input), order)
  const turn = await awaitTurn(ports, task, entry, signal)
  // The task as it was before the run, as without a daemon; of one that waits, with its place in the queue.
  const queued = 'queued' in turn ? await ports.store.findTaskByUid(task.uid) : undefined
  return { task: queued ?? task, log, ...turn }
}

async function startNow(
  ports: Ports,
  order: QueueInput,
  { id }: Task,
  log: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const words = detachedWords(order, id)
  const { dir, prompt } = order
  const { pid, first } = await ports.detachedRuns.start({ words, prompt, dir, log }, signal)
  if (first.error === undefined) return pid
  const { code, message, hint } = first.error as { code: string; message: string; hint: string }
  throw new AppError(problemOf(code), message, { hint })
}
