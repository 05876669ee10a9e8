/** Opens a run of a task, has the work done in it, and ends it. */
import { stepsText } from '../base/counted.ts'
import { quoted } from '../base/shell-quote.ts'
import { now } from '../base/time.ts'
import { afterRun } from '../closing/auto-revert.ts'
import { askTaskHook } from '../hooks/hooks.ts'
import type { CommandCall } from '../model/command.ts'
import { AppError, appError } from '../model/errors.ts'
import { isQueued } from '../model/events.ts'
import type { Repo } from '../model/repo.ts'
import type { StepNote } from '../model/step.ts'
import { isOpen, type RunMark, runLock, runsOf, type Task } from '../model/task.ts'
import type { UsageCount } from '../model/usage.ts'
import type { Ports } from '../ports/index.ts'
import { takeStep } from '../steps/take.ts'
import { busyWith, requireOpen } from '../tasks/guards.ts'
import { holdTask, settingsOf } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'
import type { Work } from '../tasks/work.ts'
import { withPorts } from '../workspaces/port-block.ts'
import { ensureWorkspace } from '../workspaces/recreate.ts'
import { type RunCalls, sweepAtEnd } from './calls.ts'
import { type EndedRun, endRun, type Spent } from './end-run.ts'

/** A run under way: its task, and its own id. */
export interface ActiveRun extends Work {
  readonly id: string
  readonly calls: RunCalls
  readonly usage: UsageCount
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
  readonly calls?: StepNote['calls']
}

export interface RunOptions {
  /** The line of a command of the user's own, such as a server or the tests: it works beside others. */
  readonly command?: string | undefined
  /** The place in the queue that it leaves when it begins. */
  readonly entry?: string | undefined
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
  { command, entry, meanwhile, onOutput, signal }: RunOptions,
): Promise<EndedRun<T>> {
  let begun: Task | undefined
  const running = inPlace(ports, named, command !== undefined, signal, async (exec) => {
    await askTaskHook(ports, repo, named, 'preRun', { onOutput }, signal)
    const run = await begin({ ports, repo, task: named, signal }, { agent, name: command, exec, entry })
    begun = run.task
    return carryOut(run, work, meanwhile)
  })
  const ended = await running.catch(async (thrown: unknown) => {
    const failed = await ports.store.findTaskByUid(named.uid)
    if (!failed || !begun) throw thrown
    const left = await afterRun({ ports, repo, task: failed }).catch(() => failed)
    throw signal?.aborted ? cancelledError(begun, left, thrown) : thrown
  })
  return { ...ended, task: await afterRun({ ports, repo, task: ended.task }) }
}

/** A run that is cancelled leaves its work: names the steps that hold it, and the command that goes on. */
function cancelledError(begun: Task, left: Task, cause: unknown): AppError {
  const [first, last, id] = [begun.checkpoints + 1, left.checkpoints, quoted(left.id)]
  const steps = last < first ? null : ([first, last] as const)
  const did = steps ? `what it did is ${stepsText(steps)}` : 'it had changed nothing'
  const next = left.conversation ? `offshoot resume ${id}` : `offshoot show ${id}`
  const hint = isOpen(left) ? next : 'offshoot ops lists what can be undone.'
  return new AppError('cancelled', `Cancelled; ${did}.`, { hint, cause, data: { task: left.id, steps } })
}

/** Holds the lock of the run while it lives: the one of the task's agents, or the first that no other command has. */
async function inPlace<T>(
  { locks, store }: Pick<Ports, 'locks' | 'store'>,
  { uid, ...named }: Task,
  isExec: boolean,
  signal: AbortSignal | undefined,
  work: (exec: number | undefined) => Promise<T>,
): Promise<T> {
  for (let n = 1; ; n++) {
    const exec = isExec ? n : undefined
    const runs = runsOf((await store.findTaskByUid(uid)) ?? named)
    // A command that was killed keeps its number until it is recovered.
    if (isExec && runs.some((mark) => mark.exec === n)) continue
    const done = await locks.tryHold(runLock(uid, { exec }), { verb: 'run', signal }, () => work(exec))
    if (done !== 'busy') return done.value
    if (!isExec)
      throw busyWith(
        { uid, ...named },
        runs.filter((mark) => mark.exec === undefined),
      )
  }
}

async function begin(
  work: Work,
  what: Pick<RunMark, 'exec' | 'name'> & Pick<RunOptions, 'entry'> & { readonly agent: string },
): Promise<ActiveRun> {
  const { ports, repo, task: named, signal } = work
  const id = ports.ids.uid()
  const task = await holdTask(ports, named, { verb: 'run', signal }, async () => {
    const open = await requireOpen(ports, named)
    if (what.entry !== undefined) requireQueued(open, what.entry)
    const { task } = await ensureWorkspace({ ...work, task: open })
    await withPorts(ports, task, signal)
    await ports.seeding.seed(repo, task, signal)
    // Beside others, a command cannot tell what was done by hand: the others name what they did at their own ends.
    if (what.exec === undefined || runsOf(task).length === 0)
      await takeStep({ ...work, task }, { tool: 'checkpoint', summary: 'before the run' })
    const event = { type: 'run.begun', run: id, owner: ports.processes.self(), ...what } as const
    return append(ports, task.uid, event, now(ports))
  })
  return { ...work, task, id, calls: new Set(), usage: { used: undefined, totals: {} } }
}

/** Of two processes that were started for one place in the queue, one begins; nor does one whose place was given up. */
function requireQueued(task: Task, entry: string): void {
  if (isQueued(task, entry)) return
  throw new AppError('notFound', `This run of ${task.id} is not in the queue any more.`, {
    hint: `See what became of it: offshoot show ${quoted(task.id)}`,
  })
}

/** Does the work of a run that has begun, and ends the run, also one that throws. */
async function carryOut<T>(
  run: ActiveRun,
  work: (run: ActiveRun) => Promise<RunEnd<T>>,
  meanwhile: RunOptions['meanwhile'],
): Promise<EndedRun<T>> {
  const { ports, repo, task, id } = run
  const began = performance.now()
  const spent = () => spentBy(run, performance.now() - began)
  try {
    const { value, reason, harmless, tool, summary, calls } = await beside(run, meanwhile, () => work(run))
    const trigger = reason === '' || harmless ? null : 'failure'
    const end = { reason, trigger, ...spent() } as const
    const ended = await endRun({ ports, repo, task }, { tool, summary, run: id, calls }, end)
    return { ...ended, run: id, value }
  } catch (thrown) {
    const { message, kind } = appError(thrown)
    const note = { ...sweepAtEnd(run), summary: message, run: id }
    // A cancelled run counts as a shutdown, because the user went away.
    const trigger = kind === 'cancelled' ? 'shutdown' : 'failure'
    await endRun({ ports, repo, task }, note, { reason: message, trigger, ...spent() })
    throw thrown
  }
}

/** What the run took, for the log; nothing of an agent that told nothing. */
function spentBy({ usage: { used, totals } }: ActiveRun, ms: number): Spent {
  return {
    seconds: Math.round(ms) / 1000,
    ...(used && { usage: used }),
    ...(Object.keys(totals).length > 0 && { totals }),
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
