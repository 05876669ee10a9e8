/** The beginning that the verbs which change a task have in common: find it, hold its lock, read it again, check it. */
import type { Watch } from '../base/watch.ts'
import { appError } from '../model/errors.ts'
import type { SkippedPath, StepNote } from '../model/step.ts'
import { isOpen, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { requireTask } from '../tasks/find.ts'
import { requireIdle, requireOpen, requireSettled } from '../tasks/guards.ts'
import { holdTask } from '../tasks/hold.ts'
import type { Work } from '../tasks/work.ts'
import { requireUnmoved } from '../workspaces/moved.ts'
import { requireOnBranch, requireWorkspace } from '../workspaces/recreate.ts'
import { takeStep } from './take.ts'

/** How a task must be before a verb may begin, and what is kept of it first. */
export interface Needs {
  /** `open` refuses a closed task, `any` takes it as well. Both refuse one that a killed verb left half-done. */
  readonly state: 'open' | 'any'
  /** In this order: the user sees the error of the first check that fails. A function is a check of the verb's own. */
  readonly checks: readonly (Check | ((work: Work) => void | Promise<void>))[]
  /** The summary of a step, taken last, which keeps the changes that no step holds yet: `before the accept`. */
  readonly step?: string
  /** The same for a verb that closes the task. Without a folder there is nothing to keep, and no step is taken. */
  readonly sweep?: string
  /** The verb goes on when the disk is too full for its sweep: the whole folder moves into the trash, so that nothing is lost. */
  readonly sweepMayFail?: boolean
}

/** What a verb begins with: its work, and what the step before it could not keep. */
export interface Begun extends Work {
  readonly skipped: readonly SkippedPath[]
  /** Why the step could not be taken, if the verb goes on without it. */
  readonly unkept?: string | undefined
}

type Check = keyof typeof checks

const checks = {
  /** No agent is at work in the task. */
  idle: ({ task }: Work) => requireIdle(task),
  /** The workspace is there, registered as this task's own, and a checkout of the user's is on the task's branch. */
  workspace: requireWorkspace,
  /** If the task is open and its folder is there: a checkout of the user's is on the task's branch. */
  onBranch: async (work: Work) => {
    if (await hasFolder(work)) await requireOnBranch(work)
  },
  /** If the task is open: the user has not moved its workspace to another place. */
  unmoved: async (work: Work) => {
    if (isOpen(work.task)) await requireUnmoved(work)
  },
} satisfies Record<string, (work: Work) => void | Promise<void>>

/** Which task is meant, as `requireTask` finds it, and the verb that begins. */
interface Beginning {
  readonly dir: string
  readonly task?: string | undefined
  readonly verb: string
  readonly needs: Needs
}

/** Finds the task, and runs the verb's work once the task's lock is held and its needs are met. */
export async function withTask<T>(
  ports: Ports,
  { dir, task, verb, needs }: Beginning,
  work: (begun: Begun) => Promise<T>,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<T> {
  return withFound({ ports, ...(await requireTask(ports, dir, task)), signal, watch }, { verb, needs }, work)
}

/** The same for a task that the verb has found already, as it asks a hook or stops a run before it takes the lock. */
export function withFound<T>(
  found: Work,
  { verb, needs }: Pick<Beginning, 'verb' | 'needs'>,
  work: (begun: Begun) => Promise<T>,
): Promise<T> {
  const { ports, task, signal } = found
  return holdTask(ports, task, { verb, signal }, async () => work(await requireNeeds(found, needs)))
}

/** Reads the task again, and throws unless it is as the verb needs it. The caller holds the task's lock. */
export async function requireNeeds(found: Work, needs: Needs): Promise<Begun> {
  const work = { ...found, task: await readTask(found, needs.state) }
  for (const check of needs.checks) await (typeof check === 'string' ? checks[check] : check)(work)
  const note = await noteOf(work, needs)
  return { ...work, ...(note ? await keep(work, note, needs) : { skipped: [] }) }
}

async function keep(
  work: Work,
  note: StepNote,
  { sweepMayFail }: Needs,
): Promise<Pick<Begun, 'task' | 'skipped' | 'unkept'>> {
  try {
    const { task, skipped } = await takeStep(work, note)
    return { task, skipped }
  } catch (thrown) {
    const { problem, message } = appError(thrown)
    if (!sweepMayFail || problem !== 'diskFull') throw thrown
    return { task: await readTask(work, 'any'), skipped: [], unkept: message }
  }
}

async function readTask({ ports, task: found }: Work, state: Needs['state']): Promise<Task> {
  if (state === 'open') return requireOpen(ports, found)
  const task = (await ports.store.findTaskByUid(found.uid)) ?? found
  requireSettled(task)
  return task
}

async function noteOf(work: Work, { step, sweep }: Needs): Promise<StepNote | undefined> {
  if (step !== undefined) return { tool: 'checkpoint', summary: step }
  if (sweep !== undefined && (await hasFolder(work))) return { tool: 'sweep', summary: sweep }
  return undefined
}

async function hasFolder({ ports, task }: Work): Promise<boolean> {
  return isOpen(task) && (await ports.files.readKind(task.path)) === 'folder'
}
