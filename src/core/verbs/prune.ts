/** The verb prune: moves tasks that nobody needs into the trash, and keeps it small (docs/adr/0021-prune-in-batches.md). */
import type { Work } from '../tasks/work.ts'
import { type EachOptions, eachOf } from '../base/concurrency.ts'
import { counted } from '../base/counted.ts'
import type { Watch } from '../base/watch.ts'
import { apart, type Failed } from '../base/failures.ts'
import {
  findProtection,
  type PruneFacts,
  type PruneOptions,
  type PruneVerdict,
  pruneVerdicts,
} from '../closing/prune-policy.ts'
import { now } from '../base/time.ts'
import { landedState } from '../landing/landed.ts'
import { appError, AppError } from '../model/errors.ts'
import type { Repo, RepoRecord } from '../model/repo.ts'
import type { Settings } from '../model/settings.ts'
import { isOpen, type Task } from '../model/task.ts'
import { closing } from '../operations/close.ts'
import { newOperation } from '../operations/new.ts'
import { type Act, performAll } from '../operations/perform.ts'
import type { Ports } from '../ports/index.ts'
import { takeStep } from '../steps/take.ts'
import { requireOpen } from '../tasks/guards.ts'
import { holdFree } from '../tasks/hold.ts'
import { asSeen } from '../tasks/liveness.ts'
import { findRepo, isGone, repoAt } from '../tasks/repo.ts'
import { relieve } from '../trash/free-space.ts'
import { shrink } from '../trash/shrink.ts'
import { findMovedTo } from '../workspaces/moved.ts'

export interface PruneInput extends PruneOptions {
  readonly dir: string
  readonly dryRun?: boolean | undefined
}

export interface Pruned {
  /** The tasks that the rules let go, oldest first. */
  readonly stale: readonly PruneReason[]
  readonly removed: readonly (PruneReason & { readonly operation: string })[]
  readonly skipped: readonly PruneReason[]
  readonly errors: readonly Failed[]
  /** Further lines for the user. */
  readonly warnings: readonly string[]
}

interface PruneReason {
  readonly task: Task
  readonly why: string
}

/** Removes tasks, oldest first, each by an operation of its own. A failure does not stop the rest. */
export async function prune(
  ports: Ports,
  input: PruneInput,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Pruned> {
  const { place, repo } = await findRepo(ports, input.dir)
  const settings = await readSettings(ports, place.checkout)
  const removed: Summary['removed'] = []
  const pruneAll = async () => {
    const isHere = repo && !(await isGone(ports, repo))
    const here = isHere ? await pruneHere(ports, repo, settings, input, removed, signal, watch) : none
    return { here, gone: await pruneGone(ports, input, signal) }
  }
  const { here, gone } = await pruneAll().catch((thrown: unknown) => {
    throw signal?.aborted && removed.length > 0 ? cancelledError(removed, thrown) : thrown
  })
  return {
    ...here,
    errors: [...here.errors, ...gone.errors],
    warnings: [...here.warnings, ...gone.warnings],
  }
}

/** The tasks that were removed before the user cancelled stay removed. */
function cancelledError({ length }: Pruned['removed'], cause: unknown): AppError {
  return new AppError('cancelled', `Cancelled; ${counted(length, 'task')} had been pruned before.`, {
    hint: 'offshoot ops lists them, and offshoot undo takes one back.',
    cause,
  })
}

/** With the user's own `limits.perRepo`, unless the repository's is higher: a file that nobody trusts gives no task up. */
async function readSettings(
  { settings }: Pick<Ports, 'settings'>,
  checkout: string | null,
): Promise<Settings> {
  const [here, users] = [await settings.read(checkout), await settings.read(null)]
  const perRepo = Math.max(here.limits.perRepo, users.limits.perRepo)
  return { ...here, limits: { ...here.limits, perRepo } }
}

const none: Pruned = { stale: [], removed: [], skipped: [], errors: [], warnings: [] }

function pruneHere(
  ports: Ports,
  repo: Repo,
  settings: Settings,
  input: PruneInput,
  removed: Summary['removed'],
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Pruned> {
  return alone(ports, repo, input, signal, async () => {
    const outcome = input.dryRun
      ? await preview(ports, repo, settings, input, signal)
      : await removeStale(ports, repo, settings, input, removed, signal, watch)
    const relieved = await relieve(ports, settings, input, signal)
    const { said, errors } = await shrink(ports, repo, settings, input, signal)
    return {
      ...outcome,
      errors: [...outcome.errors, ...errors],
      warnings: [...outcome.warnings, ...relieved, ...said],
    }
  })
}

/** Also prunes trash and vault of repositories that are gone, because no command runs in those any more. */
async function pruneGone(
  ports: Ports,
  input: PruneInput,
  signal?: AbortSignal,
): Promise<Pick<Pruned, 'errors' | 'warnings'>> {
  const [errors, warnings]: [Failed[], string[]] = [[], []]
  for (const record of await ports.repos.readAll()) {
    if (!(await isGone(ports, record))) continue
    const settings = await ports.settings.read(null)
    const shrinking = async () => shrink(ports, await repoAt(ports, record), settings, input, signal)
    try {
      const { said, errors: failed } = await alone(ports, record, input, signal, shrinking)
      errors.push(...failed)
      warnings.push(...said.map((one) => `Of ${record.commonDir}, which is gone: ${one}`))
    } catch (thrown) {
      const error = appError(thrown)
      if (error.kind === 'cancelled') throw error
      warnings.push(`Of ${record.commonDir}, which is gone, nothing could go: ${error.message}`)
    }
  }
  return { errors, warnings }
}

function alone<T>(
  ports: Pick<Ports, 'locks'>,
  { id }: RepoRecord,
  { dryRun }: PruneInput,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  return dryRun ? work() : ports.locks.hold(`prune ${id}`, { verb: 'prune', waitMs: 0, signal }, work)
}

async function preview(
  ports: Ports,
  repo: Repo,
  settings: Settings,
  input: PruneInput,
  signal?: AbortSignal,
): Promise<Pruned> {
  const { tasks, facts, errors, verdicts } = await gather(ports, repo, settings, input, signal)
  const candidates = staleOf(verdicts)
  await eachOf(candidates, atOnce, ({ task }) =>
    apart([task], errors, async () => {
      const uncommitted = await countUncommitted({ ports, repo, task, signal })
      facts.set(task.uid, { ...facts.get(task.uid), uncommitted })
    }),
  )
  const final = without(errors, pruneVerdicts(tasks, settings, ports.clock.now(), input, facts))
  const skipped = skippedOf(final)
  const uncommitted = skipped.filter(({ task }) => facts.get(task.uid)?.uncommitted)
  return { stale: staleOf(final), removed: [], skipped, errors, warnings: warningsOf(settings, uncommitted) }
}

/** How many tasks are inspected or prepared at a time. */
const atOnce = 8

/** How many tasks are removed in one batch, which holds as many locks. */
const mostAtOnce = 64

async function removeStale(
  ports: Ports,
  repo: Repo,
  settings: Settings,
  input: PruneInput,
  removed: Summary['removed'],
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Pruned> {
  const { errors, verdicts } = await gather(ports, repo, settings, input, signal)
  const stale = staleOf(verdicts)
  const keeping = new Set(verdicts.flatMap(({ task, keepsBranch }) => (keepsBranch ? [task.uid] : [])))
  const onEach = watch?.count('pruning', stale.length)
  const sum: Summary = { removed, skipped: skippedOf(verdicts), errors, uncommitted: [] }
  for (let from = 0; from < stale.length; from += mostAtOnce) {
    signal?.throwIfAborted()
    const some = stale.slice(from, from + mostAtOnce)
    const named = some.map(({ task }) => task)
    await holdFree(ports, named, { verb: 'prune', signal }, async (free) => {
      for (const { task } of some)
        if (!free.includes(task)) sum.skipped.push({ task, why: 'another command is at work in it' })
      const ready = await readyToGo(ports, repo, settings, free, input, sum, { signal, onEach })
      const acts = await planActs(ports, repo, ready, keeping, sum)
      const ended = await performAll(ports, repo, acts)
      const reasons = new Map(some.map(({ task, why }) => [task.uid, why]))
      for (const [n, { task, operation }] of acts.entries()) {
        const end = ended[n]
        const why = reasons.get(task.uid) ?? ''
        if (end instanceof AppError) sum.errors.push({ task, error: end })
        else if (end) sum.removed.push({ task: end, why, operation: operation.id })
      }
    })
  }
  const { uncommitted, ...outcome } = sum
  return { stale, ...outcome, warnings: warningsOf(settings, uncommitted) }
}

/** Filled in on the way. */
interface Summary {
  readonly removed: Pruned['removed'][number][]
  readonly skipped: PruneReason[]
  readonly errors: Failed[]
  /** The skipped tasks with uncommitted files. */
  readonly uncommitted: PruneReason[]
}

/** The warning about uncommitted files, the one reason to stay that the user can change. */
function warningsOf({ prune: { warnUncommitted } }: Settings, uncommitted: readonly PruneReason[]): string[] {
  if (!warnUncommitted) return []
  return uncommitted.map(
    ({ task: { id }, why }) => `${id} stays: it has ${why}. offshoot checkpoint ${id} keeps them.`,
  )
}

const staleOf = (verdicts: readonly PruneVerdict[]) => reasonsOf(verdicts.filter(({ goes }) => goes))
const skippedOf = (verdicts: readonly PruneVerdict[]) => reasonsOf(verdicts.filter(({ goes }) => !goes))
const reasonsOf = (verdicts: readonly PruneVerdict[]): PruneReason[] =>
  verdicts.map(({ task, why }) => ({ task, why }))

/** Asks git whether the work has landed only for tasks that would otherwise stay: it takes several calls. */
async function gather(
  ports: Ports,
  repo: Repo,
  settings: Settings,
  options: PruneInput,
  signal?: AbortSignal,
) {
  const open = await ports.store.readTasks({ repo: repo.id, open: true })
  // A dry run does not recover first, so dead runs are recognized here.
  const tasks = options.dryRun ? await Promise.all(open.map((task) => asSeen(ports, task))) : open
  const facts = new Map<string, PruneFacts>()
  const errors: Failed[] = []
  const now = ports.clock.now()
  const judge = () => without(errors, pruneVerdicts(tasks, settings, now, options, facts))
  await eachOf(tasks, atOnce, (task) =>
    apart([task], errors, async () => {
      facts.set(task.uid, { movedTo: await findMovedTo({ ports, repo, task }) })
    }),
  )
  for (const { task } of skippedOf(judge())) {
    if (task.pending || task.shadow || facts.get(task.uid)?.movedTo !== undefined) continue
    await apart([task], errors, async () => {
      const { where } = await landedState({ ports, repo, task, signal })
      const gone = (await ports.files.readKind(task.path)) !== 'folder'
      facts.set(task.uid, { landed: where, gone })
    })
  }
  return { tasks, facts, errors, verdicts: judge() }
}

/** Drops the verdicts of tasks that could not be inspected; they are reported as errors. */
function without(errors: readonly Failed[], verdicts: readonly PruneVerdict[]): PruneVerdict[] {
  const failed = new Set(errors.map(({ task }) => task.uid))
  return verdicts.filter(({ task }) => !failed.has(task.uid))
}

async function countUncommitted({ ports, repo, task, signal }: Work): Promise<number> {
  if ((await ports.files.readKind(task.path)) !== 'folder') return 0
  return (await ports.steps.readDirt(repo, task, signal)).length
}

/** Checks the tasks again under their locks: files that no step holds make a task stay, or become a step first. */
async function readyToGo(
  ports: Ports,
  repo: Repo,
  settings: Settings,
  named: readonly Task[],
  input: PruneInput,
  sum: Summary,
  { signal, onEach }: EachOptions,
): Promise<Task[]> {
  const ready = new Map<string, Task>()
  const prepare = async ({ uid, lastActiveAt }: Task) => {
    const task = await ports.store.findTaskByUid(uid)
    if (!task || !isOpen(task)) return
    if (task.pending || task.queued || task.lastActiveAt !== lastActiveAt) {
      sum.skipped.push({ task, why: 'it was used just now' })
      return
    }
    await apart([task], sum.errors, async () => {
      const takes = input.force || !settings.prune.protectUncommitted
      const why = takes
        ? undefined
        : findProtection(await countUncommitted({ ports, repo, task, signal }), settings, input)
      if (why === undefined) ready.set(uid, takes ? await sweepUp({ ports, repo, task, signal }) : task)
      else {
        sum.skipped.push({ task, why })
        sum.uncommitted.push({ task, why })
      }
    })
  }
  await eachOf(named, atOnce, prepare, { signal, onEach })
  return named.flatMap(({ uid }) => ready.get(uid) ?? [])
}

async function sweepUp(work: Work): Promise<Task> {
  const { ports, task } = work
  if ((await ports.files.readKind(task.path)) !== 'folder') return task
  const note = { tool: 'sweep', summary: 'before it was pruned' }
  return (await takeStep({ ...work, task: await requireOpen(ports, task) }, note)).task
}

async function planActs(
  ports: Ports,
  repo: Repo,
  tasks: readonly Task[],
  keeping: ReadonlySet<string>,
  sum: Summary,
): Promise<Act[]> {
  const worktrees = await ports.git.readWorktrees(repo.place)
  const taken = new Set<string>()
  const together = { batch: ports.ids.uid(), at: now(ports) }
  const acts = new Map<string, Act>()
  await eachOf(tasks, atOnce, (task) =>
    apart([task], sum.errors, async () => {
      const keepBranch = keeping.has(task.uid)
      const state = task.adopted || keepBranch ? 'kept' : 'rejected'
      const how = { keepBranch, worktrees, taken }
      const { branchKept: _, ...closed } = await closing({ ports, repo, task }, state, how)
      const operation = newOperation({ ports, task }, 'prune', { ...together, ...closed })
      acts.set(task.uid, { task, operation })
    }),
  )
  return tasks.flatMap(({ uid }) => acts.get(uid) ?? [])
}
