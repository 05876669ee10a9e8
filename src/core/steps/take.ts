/** Takes a step of a workspace and appends its event. */
import type { Work } from '../tasks/work.ts'
import { now } from '../base/time.ts'
import { following } from '../base/watch.ts'
import { appError, type AppError } from '../model/errors.ts'
import { redacted } from '../model/redact.ts'
import type { Snapshot, Step, StepNote } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { requireOpen } from '../tasks/guards.ts'
import { holdTask } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'
import { requireUnmoved } from '../workspaces/moved.ts'
import { publishSteps } from './publish.ts'

type Files = readonly string[] | undefined

/**
 * Takes a step of an open task, and publishes it if the settings say so. Concurrent calls wait for each other. A note that
 * is a function is asked for when the lock is held; if it answers undefined, no step is taken.
 */
export function checkpointTask(work: Work, note: StepNote, files?: Files): Promise<Snapshot>
export function checkpointTask(
  work: Work,
  note: () => StepNote | undefined,
  files?: Files,
): Promise<Snapshot | undefined>
export function checkpointTask(
  work: Work,
  note: StepNote | (() => StepNote | undefined),
  files?: Files,
): Promise<Snapshot | undefined> {
  const { ports, task: named, signal } = work
  return holdTask(ports, named, { verb: 'checkpoint', signal }, async () => {
    const noted = typeof note === 'function' ? note() : note
    if (!noted) return undefined
    const taken = await takeStep({ ...work, task: await requireOpen(ports, named) }, noted, files)
    await publishSteps({ ...work, task: taken.task })
    return taken
  })
}

/** The caller holds the task's lock. */
export async function takeStep(
  work: Work,
  note: StepNote,
  files?: readonly string[],
): Promise<Snapshot & { task: Task }> {
  const { ports, repo, task } = work
  // If the workspace was moved, a step of the old path would say that its files were deleted.
  await requireUnmoved(work)
  try {
    const caughtUp = await catchUp(work)
    ports.later(() => ports.seeding.adopt(repo, task))
    const calls = note.calls?.map((call) => ({ ...call, summary: redacted(call.summary) }))
    const safe = { ...note, summary: redacted(note.summary), ...(calls && { calls }) }
    const taken = await ports.steps.snapshot(repo, caughtUp, safe, files, following(work, 'reading'))
    const recorded = taken.created
      ? await recordStep({ ...work, task: caughtUp }, taken.step, taken.files)
      : caughtUp
    return { ...taken, task: recorded.unkept ? await recordResumption(ports, recorded) : recorded }
  } catch (thrown) {
    const error = appError(thrown)
    if (error.kind !== 'cancelled') await failLoudly(ports, task, note, error)
    throw error
  }
}

/** Marks the task as failed. Its files are still there, but the user must not rely on steps that do not exist. */
async function failLoudly(
  ports: Pick<Ports, 'clock' | 'processes' | 'store'>,
  task: Task,
  { tool }: StepNote,
  error: AppError,
): Promise<void> {
  const reason = `a checkpoint could not be written: ${error.message}`
  try {
    await append(ports, task.uid, { type: 'checkpoint.failed', tool, reason }, now(ports))
  } catch {
    // A full disk may refuse this event too; the caller gets the first error either way.
  }
}

async function recordResumption(
  ports: Pick<Ports, 'clock' | 'processes' | 'store'>,
  { uid }: Task,
): Promise<Task> {
  return append(ports, uid, { type: 'checkpoint.resumed' }, now(ports))
}

async function recordStep(
  { ports, repo, task, signal }: Work,
  step: Step,
  files: Snapshot['files'],
): Promise<Task> {
  const { n, commit, tool, summary, run, call, calls, skipped } = step
  const first = await ports.seeding.seed(repo, task)
  const total = await ports.steps.readStat(repo, first, step, signal)
  const named = { tool, summary, run, call, ...(calls && { calls }) }
  const event = { type: 'checkpoint', n, commit, ...named, files, skipped, total } as const
  return append(ports, task.uid, event, step.at)
}

/** Appends the events of steps that a crash left without one: the vault, not the log, says which steps exist. */
export async function catchUp(work: Work): Promise<Task> {
  const { ports, repo, task, signal } = work
  const tip = await ports.steps.findTip(repo, task)
  if (!tip || tip.n <= task.checkpoints) return task
  const steps = await ports.steps.readSteps(repo, task)
  const files = await ports.steps.readFiles(repo, steps, signal)
  let now = task
  for (const step of steps) {
    if (step.n > now.checkpoints) now = await recordStep({ ...work, task: now }, step, files[step.n] ?? [])
  }
  return now
}
