import type { Work } from '../tasks/work.ts'
import { now } from '../base/time.ts'
import { appError, type AppError } from '../model/errors.ts'
import { redacted } from '../model/redact.ts'
import type { Snapshot, Step, StepNote } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { append } from '../tasks/records.ts'
import { requireUnmoved } from '../workspaces/moved.ts'

/** One step and its event. Whoever calls holds the task's lock. */
export async function takeStep(
  work: Work,
  note: StepNote,
  files?: readonly string[],
): Promise<Snapshot & { task: Task }> {
  const { ports, repo, task, signal } = work
  // What lies where it was moved away from would be recorded as all that is left of it.
  await requireUnmoved(work)
  try {
    const caughtUp = await catchUp(work)
    ports.later(() => ports.seeding.adopt(repo, task))
    const safe = { ...note, summary: redacted(note.summary) }
    const taken = await ports.steps.snapshot(repo, caughtUp, safe, files, signal)
    const recorded = taken.created
      ? await recordStep({ ...work, task: caughtUp }, taken.step, taken.files)
      : caughtUp
    return { ...taken, task: recorded.unkept ? await resumed(ports, recorded) : recorded }
  } catch (thrown) {
    const error = appError(thrown)
    if (error.kind !== 'cancelled') await failLoudly(ports, task, note, error)
    throw error
  }
}

/** A task whose state cannot be kept must not go on as if it were: nothing is lost, but nothing more is promised. */
async function failLoudly(ports: Ports, task: Task, { tool }: StepNote, error: AppError): Promise<void> {
  const reason = `a checkpoint could not be written: ${error.message}`
  try {
    await append(ports, task.uid, { type: 'checkpoint.failed', tool, reason }, now(ports))
  } catch {
    // On a full disk not even that can be noted; the caller hears of it all the same.
  }
}

async function resumed(ports: Ports, { uid }: Task): Promise<Task> {
  return append(ports, uid, { type: 'checkpoint.resumed' }, now(ports))
}

async function recordStep(
  { ports, repo, task, signal }: Work,
  step: Step,
  files: Snapshot['files'],
): Promise<Task> {
  const { n, commit, tool, summary, run, call, skipped } = step
  const first = await ports.seeding.seed(repo, task)
  const total = await ports.steps.readStat(repo, first, step, signal)
  const event = { type: 'checkpoint', n, commit, tool, summary, run, call, files, skipped, total } as const
  return append(ports, task.uid, event, step.at)
}

/** Steps are the truth: one whose event was lost in a crash gets it now. */
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
