/** The verb show: shows one task, with the state of its workspace and branch, its last steps and what its agent said. */
import type { PairForecast, TaskForecast } from '../landing/forecast.ts'
import { findLandedIn, type LandedIn } from '../landing/landed-in.ts'
import { landedState } from '../landing/landed.ts'
import { ifSoon } from '../landing/if-soon.ts'
import { forecastTask } from '../landing/refresh-forecast.ts'
import type { TaskEvent } from '../model/events.ts'
import { branchRef } from '../model/refs.ts'
import type { Repo } from '../model/repo.ts'
import { type RunRecord, runRecords } from '../model/run-record.ts'
import type { CountedFile, Step, StepFile } from '../model/step.ts'
import { isOpen, type ShownTask, type Task } from '../model/task.ts'
import { lastWordsOf } from '../model/transcript.ts'
import { findOperation } from '../operations/kept.ts'
import { operationsOf } from '../operations/known.ts'
import type { Ports } from '../ports/index.ts'
import { readTranscripts } from '../runs/transcript.ts'
import { findPresent } from '../steps/present.ts'
import { requireTask } from '../tasks/find.ts'
import type { Work } from '../tasks/work.ts'
import { otherBranch } from '../workspaces/on-branch.ts'
import { asListed } from '../tasks/liveness.ts'

/** A call that was denied in the last run of an agent. */
interface Denied {
  readonly tool: string
  readonly summary: string
  readonly reason: string
  readonly at: string
}

export interface Shown {
  readonly task: ShownTask
  /** Whether the workspace holds anything uncommitted; null when there is none. */
  readonly dirty: boolean | null
  /** Whether its work is in the base branch by now. */
  readonly landed: boolean | null
  /** Where an accepted task has landed. */
  readonly landedIn: LandedIn | undefined
  /** On a shadow branch: how many files with uncommitted changes of the user wait for the end of the task. */
  readonly putAway?: number | undefined
  /** The branch that its workspace is on, if that is not the task's. */
  readonly otherBranch?: string | undefined
  /** What changed in the user's repository and checkout during its last run; undefined when nothing did. */
  readonly strayed?: Strayed | undefined
  /** The last few, oldest first. */
  readonly steps: readonly (Step & {
    readonly files: readonly StepFile[]
    readonly published: string | undefined
  })[]
  /** All that the task has changed so far, with what is no step yet. */
  readonly files: readonly CountedFile[]
  /** The files of the workspace that no step holds as they are now; undefined when nobody looked. */
  readonly noStep: readonly StepFile[] | undefined
  /** Why the workspace could not be looked at. */
  readonly unread: string | undefined
  /** All runs, oldest first. */
  readonly runs: readonly RunRecord[]
  /** The last message of the agent. */
  readonly lastWords: string | undefined
  readonly denied: readonly Denied[]
  /** What it would meet if it landed; undefined of a closed task, and if that cannot be told in time. */
  readonly forecast: { readonly task: TaskForecast; readonly pairs: readonly PairForecast[] } | undefined
}

type Strayed = Omit<Extract<TaskEvent, { type: 'run.strayed' }>, 'type'>

const lastSteps = 5

/** One task, with a look at its workspace and its branch. */
export async function show(
  ports: Ports,
  input: { dir: string; task?: string | undefined },
  signal?: AbortSignal,
): Promise<Shown> {
  const { repo, task: meant } = await requireTask(ports, input.dir, input.task)
  const [task = meant] = await asListed(ports, [meant])
  const { landed } = await landedState({ ports, repo, task, signal })
  const parked = isOpen(task) && task.shadow && (await findOperation(ports, repo, task.shadow.operation))
  const found = await findPresent({ ports, repo, task, signal })
  const present = found && 'tree' in found ? found : undefined
  const steps = await ports.steps.readSteps(repo, task)
  const [first, last] = [steps[0], present ?? steps.at(-1)]
  const isDirty = async () => (await ports.steps.readDirt(repo, task, signal)).length > 0
  const head = found && (await ports.refs.findRef(repo.place, branchRef(task.branch), signal))
  return {
    task: { ...task, head: head ?? task.head },
    dirty: present ? present.files.length > 0 && (await isDirty()) : null,
    landed,
    landedIn: await findLandedIn({ ports, repo, task, signal }),
    putAway: parked ? parked.files?.moves.length : undefined,
    otherBranch: found && otherBranch(task, await ports.git.readWorktrees(repo.place)),
    strayed: await lastStrayed(ports, repo, task),
    steps: await withFiles(ports, repo, task, steps, signal),
    files: first && last ? await ports.steps.readCounts(repo, first, last, signal) : [],
    noStep: present?.files,
    unread: found && 'why' in found ? found.why : undefined,
    runs: runRecords(await ports.store.readEvents({ uid: task.uid, types: ['run.begun', 'run.ended'] })),
    lastWords: lastWordsOf(await readTranscripts(ports, repo, task)),
    denied: await readDenied(ports, task),
    forecast: await findForecast({ ports, repo, task, signal }),
  }
}

async function findForecast({ ports, repo, task, signal }: Work): Promise<Shown['forecast']> {
  if (!isOpen(task) || task.checkpoints === 0) return undefined
  const made = await ifSoon(signal, (late) => forecastTask(ports, repo, task, late))
  return made?.task && { task: made.task, pairs: made.pairs }
}

async function withFiles(
  ports: Ports,
  repo: Repo,
  task: Task,
  steps: readonly Step[],
  signal: AbortSignal | undefined,
): Promise<Shown['steps']> {
  // The one before is needed to compare with; step 0 itself is not shown.
  const [before, ...shown] = steps.slice(-lastSteps - 1)
  if (!before) return []
  const files = await ports.steps.readFiles(repo, [before, ...shown], signal)
  const published = await ports.publishing.readPublished(repo, task)
  return shown.map((step, n) => ({ ...step, files: files[n + 1] ?? [], published: published.get(step.n) }))
}

async function readDenied({ store }: Pick<Ports, 'store'>, { uid }: Task): Promise<Denied[]> {
  const events = await store.readEvents({ uid, types: ['run.begun', 'run.decided'] })
  // A command beside an agent decides nothing.
  const last = events.findLastIndex(({ event }) => event.type === 'run.begun' && event.exec === undefined)
  return events.slice(last + 1).flatMap(({ event, at }) => {
    if (event.type !== 'run.decided' || event.allow) return []
    const { tool, summary, reason } = event
    return [{ tool, summary, reason, at }]
  })
}

async function lastStrayed(ports: Ports, repo: Repo, { uid }: Task): Promise<Strayed | undefined> {
  const events = await ports.store.readEvents({ uid, types: ['run.begun', 'run.strayed'] })
  const last = events.at(-1)?.event
  if (last?.type !== 'run.strayed') return undefined
  const known = (await operationsOf(ports, repo)).find(({ id }) => id === last.operation)
  return { ...last, operation: known && !known.undone && !known.expired ? known.id : undefined }
}
