/** Asks a run to end, and waits until it has. */
import { now } from '../base/time.ts'
import { runLock, runsOf, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { busyWith } from '../tasks/guards.ts'
import { settingsOf } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'
import { unqueueAll } from './enqueue.ts'

export interface Stopped {
  readonly task: Task
  /** False: there was no run. */
  readonly stopped: boolean
}

/** Takes the task off the queue, then ends every run of it that is under way: the agent, and the commands beside it. */
export async function stopTask(ports: Ports, named: Task, signal?: AbortSignal): Promise<Stopped> {
  const unqueued = await unqueueAll(ports, named, 'Stopped by the user.')
  const task = unqueued > 0 ? ((await ports.store.findTaskByUid(named.uid)) ?? named) : named
  const runs = runsOf(task)
  if (runs.length === 0) return { task, stopped: unqueued > 0 }
  const waitMs = (await settingsOf(ports, task)).lock.waitSeconds * 1000
  for (const { run } of runs) {
    const event = { type: 'run.stopping', run, reason: 'Stopped by the user.' } as const
    await append(ports, task.uid, event, now(ports))
    await ports.processes.endRun(run)
  }
  for (const mark of runs) {
    const ended = await ports.locks.tryHold(
      runLock(task.uid, mark),
      { verb: 'stop', waitMs, signal },
      async () => {},
    )
    if (ended === 'busy') throw busyWith(task, [mark])
  }
  return { task: (await ports.store.findTaskByUid(task.uid)) ?? task, stopped: true }
}
