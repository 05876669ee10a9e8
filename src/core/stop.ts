import { settingsOf } from './tasks/hold.ts'
import { requireTask } from './tasks/find.ts'
import type { Ports } from './ports/index.ts'
import { runLock, type Task } from './model/task.ts'
import { append } from './tasks/records.ts'

export interface Stopped {
  readonly task: Task
  /** False: nothing ran. */
  readonly stopped: boolean
}

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

export async function stopTask(ports: Ports, task: Task, signal?: AbortSignal): Promise<Stopped> {
  if (task.pending?.verb !== 'run') return { task, stopped: false }
  const { run } = task.pending
  const event = { type: 'run.stopping', run, reason: 'Stopped by the user.' } as const
  await append(ports, task.uid, event, ports.clock.now().toISOString())
  await ports.processes.endRun(run)
  const waitMs = (await settingsOf(ports, task)).lock.waitSeconds * 1000
  await ports.locks.hold(runLock(task.uid), { verb: 'stop', waitMs, signal }, async () => {})
  return { task: (await ports.store.findTaskByUid(task.uid)) ?? task, stopped: true }
}
