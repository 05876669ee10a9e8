/** Opens a run of a task, has the work done in it, and ends it. */
import { now } from '../base/time.ts'
import { afterRun } from '../closing/auto-revert.ts'
import { askTaskHook } from '../hooks/hooks.ts'
import type { CommandCall } from '../model/command.ts'
import { appError } from '../model/errors.ts'
import type { Repo } from '../model/repo.ts'
import { runLock, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { takeStep } from '../steps/take.ts'
import { requireOpen } from '../tasks/guards.ts'
import { holdTask, settingsOf } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'
import type { Work } from '../tasks/work.ts'
import { withPorts } from '../workspaces/port-block.ts'
import { ensureWorkspace } from '../workspaces/recreate.ts'
import { type EndedRun, endRun } from './end-run.ts'

/** A run under way: its task, and its own id. */
export interface ActiveRun extends Work {
  readonly id: string
}

/** How a run ended, and the name of its last step. */
export interface RunEnd<T> {
  readonly value: T
  /** Empty when all went well. */
  readonly reason: string
  /** The failure is no reason for auto-revert to reject the task. */
  readonly harmless?: boolean | undefined
  readonly tool: string
  readonly summary: string
}

export interface RunOptions {
  /** Starts periodic work beside the run; the answered function ends it and waits for it. */
  readonly meanwhile: (ports: Ports, everyMinutes: number) => () => Promise<void>
  /** Is called with the output of the `preRun` hook. */
  readonly onOutput?: CommandCall['onOutput']
  readonly signal?: AbortSignal | undefined
}

/**
 * Does some work as a run of the task. Before it, changes made by hand become a step; after it, the remaining changes become
 * one, and the steps are published. A run that throws is swept, and the task has failed.
 */
export async function withRun<T>(
  ports: Ports,
  { repo, task: named }: { repo: Repo; task: Task },
  agent: string,
  work: (run: ActiveRun) => Promise<RunEnd<T>>,
  { meanwhile, onOutput, signal }: RunOptions,
): Promise<EndedRun<T>> {
  let hasBegun = false
  const running = ports.locks.hold(runLock(named.uid), { verb: 'run', waitMs: 0, signal }, async () => {
    await askTaskHook(ports, repo, named, 'preRun', { onOutput }, signal)
    const run = await begin({ ports, repo, task: named, signal }, agent)
    hasBegun = true
    return carryOut(run, work, meanwhile)
  })
  const ended = await running.catch(async (thrown: unknown) => {
    const failed = await ports.store.findTaskByUid(named.uid)
    if (failed && hasBegun) await afterRun({ ports, repo, task: failed }).catch(() => {})
    throw thrown
  })
  return { ...ended, task: await afterRun({ ports, repo, task: ended.task }) }
}

async function begin(work: Work, agent: string): Promise<ActiveRun> {
  const { ports, repo, task: named, signal } = work
  const id = ports.ids.uid()
  const task = await holdTask(ports, named, { verb: 'run', signal }, async () => {
    const { task } = await ensureWorkspace({ ...work, task: await requireOpen(ports, named) })
    await withPorts(ports, task, signal)
    await ports.seeding.seed(repo, task, signal)
    await takeStep({ ...work, task }, { tool: 'checkpoint', summary: 'before the run' })
    const event = { type: 'run.begun', run: id, agent, owner: ports.processes.self() } as const
    return append(ports, task.uid, event, now(ports))
  })
  return { ...work, task, id }
}

/** Does the work of a run that has begun, and ends the run, also one that throws. */
async function carryOut<T>(
  run: ActiveRun,
  work: (run: ActiveRun) => Promise<RunEnd<T>>,
  meanwhile: RunOptions['meanwhile'],
): Promise<EndedRun<T>> {
  const { ports, repo, task, id } = run
  try {
    const { value, reason, harmless, tool, summary } = await beside(run, meanwhile, () => work(run))
    const trigger = reason === '' || harmless ? null : 'failure'
    const ended = await endRun({ ports, repo, task }, { tool, summary, run: id }, reason, trigger)
    return { ...ended, run: id, value }
  } catch (thrown) {
    const { message, kind } = appError(thrown)
    const note = { tool: 'sweep', summary: message, run: id }
    // A cancelled run counts as a shutdown, because the user went away.
    const trigger = kind === 'cancelled' ? 'shutdown' : 'failure'
    await endRun({ ports, repo, task }, note, message, trigger)
    throw thrown
  }
}

async function beside<T>(
  { ports, task }: ActiveRun,
  meanwhile: RunOptions['meanwhile'],
  work: () => Promise<T>,
): Promise<T> {
  const { everyMinutes } = (await settingsOf(ports, task)).recover
  const endMeanwhile = meanwhile(ports, everyMinutes)
  try {
    return await work()
  } finally {
    await endMeanwhile()
  }
}
