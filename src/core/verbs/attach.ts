/** The verb attach: follows the detached run of a task until it ends. */
import { pause } from '../base/pause.ts'
import { quoted } from '../base/shell-quote.ts'
import { AppError } from '../model/errors.ts'
import type { ShownTask, Task } from '../model/task.ts'
import type { LogLine } from '../ports/detached-runs.ts'
import type { Ports } from '../ports/index.ts'
import { runLog } from '../runs/run-log.ts'
import { requireTask } from '../tasks/find.ts'
import { asListed, isUnderWay } from '../tasks/liveness.ts'

export interface AttachInput {
  readonly dir: string
  readonly task?: string | undefined
}

/** Hands every line of the run to `tell`, after its turn has come. Cancelling it ends the following, not the run. */
export async function attach(
  ports: Ports,
  { dir, task: name }: AttachInput,
  tell: (line: LogLine) => void,
  signal?: AbortSignal,
): Promise<ShownTask> {
  const { task } = await requireTask(ports, dir, name)
  const read = async () => (await ports.store.findTaskByUid(task.uid)) ?? task
  const isRunning = async () => {
    const present = await read()
    return present.pending?.verb === 'run' && isUnderWay(ports, present)
  }
  const hasWaited = await awaitBeginning(read, isRunning, signal)
  if (await isRunning()) {
    const log = runLog(ports.home, task)
    const begin = await findOpen(ports, log, hasWaited ? firstLineMs : 0, signal)
    if (begin === undefined) throw elsewhere(task)
    await ports.detachedRuns.follow(log, begin, tell, isRunning, signal)
  }
  const [ended] = await asListed(ports, [await read()])
  return requireSucceeded(ended ?? task)
}

/** How long a run that has just begun may take for its first line. */
const firstLineMs = 5000
const lookMs = 100

/** While a run of the task waits for its turn, waits with it; answers whether it had to. */
async function awaitBeginning(
  read: () => Promise<Task>,
  isRunning: () => Promise<boolean>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  for (let hasWaited = false; ; hasWaited = true) {
    signal?.throwIfAborted()
    if (!(await read()).queued || (await isRunning())) return hasWaited
    await pause(lookMs, signal)
  }
}

async function findOpen(
  { detachedRuns }: Pick<Ports, 'detachedRuns'>,
  log: string,
  patienceMs: number,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  for (const until = performance.now() + patienceMs; ; await pause(lookMs, signal)) {
    const found = detachedRuns.findOpen(log)
    if (found !== undefined || performance.now() >= until || signal?.aborted) return found
  }
}

function elsewhere({ id }: Task): AppError {
  return new AppError('locked', `A run of ${id} is under way in another terminal.`, {
    hint: `Follow it there, or end it: offshoot stop ${quoted(id)}`,
  })
}

function requireSucceeded(task: ShownTask): ShownTask {
  const { id, state, reason = 'no reason was recorded', conversation } = task
  if (state !== 'failed') return task
  throw new AppError('agentFailed', `The run of ${id} failed: ${reason}`, {
    hint:
      conversation === undefined
        ? `What it did is kept: offshoot diff ${quoted(id)}`
        : `Go on with it: offshoot resume ${quoted(id)}`,
  })
}
