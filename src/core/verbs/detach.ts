/** The verb detach: leaves a run to a process of its own. */
import type { Watch } from '../base/watch.ts'
import type { CommandCall } from '../model/command.ts'
import { AppError, problemOf } from '../model/errors.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { type DetachInput, detachedWords } from '../runs/detached-words.ts'
import { flagsOf } from '../runs/run-input.ts'
import { runLog } from '../runs/run-log.ts'
import { requireResumed, requireStarted } from '../runs/run-task.ts'
import { requireEnabled, requireOpen } from '../tasks/guards.ts'
import { findRepo } from '../tasks/repo.ts'

export interface Detached {
  readonly task: Task
  readonly pid: number
  /** The file that the run writes its events to. */
  readonly log: string
}

/** How long a question waits where the settings leave it open: nobody is at the terminal of a detached run. */
const patience = '10m'

/** Makes the task here, so that its id is known, and returns when the run in the other process has begun. */
export async function detach(
  ports: Ports,
  input: DetachInput & Pick<CommandCall, 'onOutput'>,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Detached> {
  const { dir, prompt, onOutput } = input
  const { place } = await findRepo(ports, dir)
  const settings = await ports.settings.read(place.checkout, flagsOf(input))
  requireEnabled(settings)
  const { task: named } = input.resume
    ? await requireResumed(ports, input)
    : await requireStarted(ports, input, onOutput, signal, watch)
  const task = await requireOpen(ports, named)
  const { askTimeout } = settings.policy
  const words = detachedWords(
    { ...input, askTimeout: askTimeout === 'auto' ? patience : askTimeout },
    task.id,
  )
  const log = runLog(ports.home, task)
  const { pid, first } = await ports.detachedRuns.start({ words, prompt, dir, log }, signal)
  if (first.error !== undefined) {
    const { code, message, hint } = first.error as { code: string; message: string; hint: string }
    throw new AppError(problemOf(code), message, { hint })
  }
  return { task, pid, log }
}
