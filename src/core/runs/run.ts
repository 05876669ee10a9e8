/** A run of a task: its beginning, its steps, and its end. */
import type { Work } from '../tasks/work.ts'
import { now } from '../base/time.ts'
import { afterRun } from '../closing/auto-revert.ts'
import { askTaskHook } from '../hooks/hooks.ts'
import type { CommandCall } from '../model/command.ts'
import { appError } from '../model/errors.ts'
import type { Repo } from '../model/repo.ts'
import type { Snapshot } from '../model/step.ts'
import { runLock, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { publishSteps } from '../steps/publish.ts'
import { takeStep } from '../steps/take.ts'
import { requireOpen } from '../tasks/guards.ts'
import { holdTask, settingsOf } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'
import { findMovedTo } from '../workspaces/moved.ts'
import { withPorts } from '../workspaces/port-block.ts'
import { ensureWorkspace } from '../workspaces/recreate.ts'

/** A run under way, with the function that takes its steps. */
export interface ActiveRun {
  readonly id: string
  readonly task: Task
  /** Takes a step of the changes; concurrent calls wait for each other. */
  checkpoint(
    note: { tool: string; summary: string; call?: string | undefined },
    files?: readonly string[],
  ): Promise<Snapshot>
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

export interface EndedRun<T> {
  readonly task: Task
  readonly run: string
  readonly value: T
  /** The last step; undefined when nothing had changed. */
  readonly taken: Snapshot | undefined
  /** Its id in the user's repository. */
  readonly published: string | undefined
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
    const id = ports.ids.uid()
    const task = await begin({ ports, repo, task: named, signal }, id, agent)
    hasBegun = true
    try {
      const { everyMinutes } = (await settingsOf(ports, task)).recover
      const endMeanwhile = meanwhile(ports, everyMinutes)
      let end: RunEnd<T>
      try {
        end = await work(activeRun({ ports, repo, task, signal }, id))
      } finally {
        await endMeanwhile()
      }
      const { value, reason, harmless, tool, summary } = end
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
  })
  const ended = await running.catch(async (thrown: unknown) => {
    const failed = await ports.store.findTaskByUid(named.uid)
    if (failed && hasBegun) await afterRun({ ports, repo, task: failed }).catch(() => {})
    throw thrown
  })
  return { ...ended, task: await afterRun({ ports, repo, task: ended.task }) }
}

function activeRun(work: Work, id: string): ActiveRun {
  const { ports, task, signal } = work
  return {
    id,
    task,
    checkpoint: (note, files) =>
      holdTask(ports, task, { verb: 'checkpoint', signal }, async () => {
        const open = await requireOpen(ports, task)
        const taken = await takeStep({ ...work, task: open }, { ...note, run: id }, files)
        await publishSteps({ ...work, task: taken.task })
        return taken
      }),
  }
}

function begin(work: Work, run: string, agent: string): Promise<Task> {
  const { ports, repo, task: named, signal } = work
  return holdTask(ports, named, { verb: 'run', signal }, async () => {
    const { task } = await ensureWorkspace({ ...work, task: await requireOpen(ports, named) })
    await withPorts(ports, task, signal)
    await ports.seeding.seed(repo, task, signal)
    await takeStep({ ...work, task }, { tool: 'checkpoint', summary: 'before the run' })
    const event = { type: 'run.begun', run, agent, owner: ports.processes.self() } as const
    return append(ports, task.uid, event, now(ports))
  })
}

/**
 * Takes the last step of a run, records its end and publishes it. Recovery calls this for a run whose process was killed.
 */
export function endRun(
  work: Work,
  note: { tool: string; summary: string; run: string },
  reason: string,
  trigger: Task['trigger'] | null = 'shutdown',
): Promise<Omit<EndedRun<never>, 'run' | 'value'>> {
  const { ports, repo, task } = work
  return holdTask(ports, task, { verb: 'run' }, async () => {
    const isMoved = (await findMovedTo(work)) !== undefined
    const there = !isMoved && (await ports.files.readKind(task.path)) === 'folder'
    const taken = there
      ? await takeStep({ ...work, task: await requireOpen(ports, task), signal: undefined }, note)
      : undefined
    const given = trigger === null ? {} : { trigger }
    const event = { type: 'run.ended', run: note.run, ok: reason === '', reason, ...given } as const
    const ended = await append(ports, task.uid, event, now(ports))
    const done = await publishSteps({ ...work, task: ended, signal: undefined })
    if (!taken?.created) return { task: done, taken: undefined, published: undefined }
    return {
      task: done,
      taken,
      published: (await ports.publishing.readPublished(repo, task)).get(taken.step.n),
    }
  })
}
