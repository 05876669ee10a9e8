import type { Ports } from '../ports/index.ts'
import { type Stopped, stopTask } from '../runs/stop.ts'
import { requireTask } from '../tasks/find.ts'

/**
 * Ends the run of a task, in whatever process it is: its agent is ended with all that it started, and whoever runs it
 * sweeps up. Returns when that is done.
 */
export async function stop(
  ports: Ports,
  input: { readonly dir: string; readonly task?: string | undefined },
  signal?: AbortSignal,
): Promise<Stopped> {
  const { task } = await requireTask(ports, input.dir, input.task)
  return stopTask(ports, task, signal)
}
