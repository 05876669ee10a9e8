/** The verb attach: follows the detached run of a task until it ends. */
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

/** Hands every line of the run to `tell`. Cancelling it ends the following, not the run. */
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
  if (await isRunning()) {
    const log = runLog(ports.home, task)
    const begin = ports.detachedRuns.findOpen(log)
    if (begin === undefined) throw elsewhere(task)
    await ports.detachedRuns.follow(log, begin, tell, isRunning, signal)
  }
  const [ended] = await asListed(ports, [await read()])
  return requireSucceeded(ended ?? task)
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
