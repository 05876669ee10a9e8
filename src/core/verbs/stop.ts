/** The verb stop: ends the run of a task. */
import type { Ports } from '../ports/index.ts'
import { type Stopped, stopTask } from '../runs/stop.ts'
import { requireTask } from '../tasks/find.ts'

/**
 * Ends the run in whatever process it is: the agent and all its processes are killed, and the process of the run takes the
 * last step. Returns when that is done.
 */
export async function stop(
  ports: Ports,
  input: { readonly dir: string; readonly task?: string | undefined },
  signal?: AbortSignal,
): Promise<Stopped> {
  const { task } = await requireTask(ports, input.dir, input.task)
  return stopTask(ports, task, signal)
}
