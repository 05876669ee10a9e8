/** Asks a run to end, and waits until it has. */
import { now } from '../base/time.ts'
import { runLock, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { settingsOf } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'

export interface Stopped {
  readonly task: Task
  /** False: there was no run. */
  readonly stopped: boolean
}

export async function stopTask(ports: Ports, task: Task, signal?: AbortSignal): Promise<Stopped> {
  if (task.pending?.verb !== 'run') return { task, stopped: false }
  const { run } = task.pending
  const event = { type: 'run.stopping', run, reason: 'Stopped by the user.' } as const
  await append(ports, task.uid, event, now(ports))
  await ports.processes.endRun(run)
  const waitMs = (await settingsOf(ports, task)).lock.waitSeconds * 1000
  await ports.locks.hold(runLock(task.uid), { verb: 'stop', waitMs, signal }, async () => {})
  return { task: (await ports.store.findTaskByUid(task.uid)) ?? task, stopped: true }
}
