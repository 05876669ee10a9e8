/** Finishes or rolls back verbs whose process died. Starts no process when there is none. */
import { isBelow } from '../base/below.ts'
import { now } from '../base/time.ts'
import { appError, AppError } from '../model/errors.ts'
import type { LeftBehind } from '../model/git.ts'
import { vaultsFolder } from '../model/layout.ts'
import { branchRef, markRef, pinRef } from '../model/refs.ts'
import { type Repo, repoLock } from '../model/repo.ts'
import { type Pending, runLock, runsOf, type Task, taskLock } from '../model/task.ts'
import { takeBack } from '../operations/back.ts'
import { findOperation } from '../operations/kept.ts'
import { finish, finishWithoutRefs } from '../operations/perform.ts'
import type { Ports } from '../ports/index.ts'
import { clearRunFolder } from '../runs/run-folder.ts'
import { endRun } from '../runs/end-run.ts'
import { publishSteps } from '../steps/publish.ts'
import { catchUp } from '../steps/take.ts'
import { busyWith } from '../tasks/guards.ts'
import { holdTask } from '../tasks/hold.ts'
import { unendedRun, whyUnended } from '../tasks/liveness.ts'
import { append } from '../tasks/records.ts'
import { isGone, repoAt } from '../tasks/repo.ts'
import { undoRecreate, undoStart } from '../workspaces/make.ts'
import { recoverPools } from '../workspaces/pool.ts'

export interface Settled {
  readonly uid: string
  readonly task: string
  readonly repo: string
  readonly verdict: 'finished' | 'rolled back' | 'left alone'
  readonly why: string
}

/**
 * Settles every pending verb whose process is dead. With nothing to do it is one read of the store. A verb that cannot be
 * settled is left alone and reported.
 */
export async function settleAll(ports: Ports, signal?: AbortSignal): Promise<Settled[]> {
  const settled: Settled[] = []
  for (const owner of ports.processes.readDeadOwners()) {
    // A child that does not end must not block the rest; the next recovery tries again.
    await ports.processes.endChildren(owner, (left) => clearLeft(ports, left)).catch(() => 0)
  }
  await recoverPools(ports)
  for (const task of await ports.store.readPendingTasks()) {
    signal?.throwIfAborted()
    try {
      settled.push(await settle(ports, task))
    } catch (error) {
      const { uid, id, repo } = task
      settled.push({ uid, task: id, repo, verdict: 'left alone', why: appError(error).message })
    }
  }
  return settled
}

/** Settles the verb of a task; of several runs, each whose process is dead. */
export async function settle(ports: Ports, seen: Task): Promise<Settled> {
  const runs = runsOf(seen)
  if (runs.length === 0)
    return ports.locks.hold(taskLock(seen.repo, seen.id), { verb: 'recover', waitMs: 0 }, () =>
      settleHeld(ports, seen, ({ pending }) => pending),
    )
  const settled: Settled[] = []
  for (const mark of runs) {
    const done = await ports.locks.tryHold(runLock(seen.uid, mark), { verb: 'recover' }, () =>
      settleHeld(ports, seen, (task) => {
        const left = runsOf(task).find(({ run }) => run === mark.run)
        return left && { verb: 'run', ...left }
      }),
    )
    if (done !== 'busy') settled.push(done.value)
  }
  const done = settled.find(({ verdict }) => verdict !== 'left alone') ?? settled[0]
  if (done) return done
  throw busyWith(seen, runs)
}

/** Holding the lock proves that the process of the verb is dead; its git children may still run. */
async function settleHeld(
  ports: Ports,
  seen: Task,
  pendingOf: (task: Task) => Pending | undefined,
): Promise<Settled> {
  const task = await ports.store.findTaskByUid(seen.uid)
  const named = { uid: seen.uid, task: seen.id, repo: seen.repo }
  const pending = task && pendingOf(task)
  if (!pending) return { ...named, verdict: 'left alone', why: 'It ended by itself.' }
  const record = await ports.repos.findById(task.repo)
  if (!record) throw new AppError('failed', 'Its repository is not known.')
  const why = whyUnended(pending)
  const gone = await isGone(ports, record)
  const repo = gone ? await repoAt(ports, record) : { ...record, place: await ports.locate(record.commonDir) }
  await ports.processes.endChildren(pending.owner, (left) => clearLeft(ports, left))
  const { verdict, left = [] } = await (gone ? concludeGone : conclude)(ports, repo, task, pending, why)
  const told =
    left.length > 0 ? `${why}; left as they are, since they were changed meanwhile: ${left.join(', ')}` : why
  return { ...named, verdict, why: told }
}

interface Conclusion extends Pick<Settled, 'verdict'> {
  /** Files that somebody changed since the verb did not end. */
  readonly left?: readonly string[]
}

const finished: Conclusion = { verdict: 'finished' }
const rolledBack: Conclusion = { verdict: 'rolled back' }

async function conclude(
  ports: Ports,
  repo: Repo,
  task: Task,
  pending: Pending,
  why: string,
): Promise<Conclusion> {
  const clear = (refs: string[], since?: string) => ports.refs.clearRefLocks(repo.place, refs, since)
  const branch = task.adopted ? [] : [branchRef(task.branch)]
  switch (pending.verb) {
    case 'start':
      await clear([pinRef(task.uid), ...branch], task.createdAt)
      await undoStart({ ports, repo, task }, { message: why })
      return rolledBack
    case 'recreate':
      await clear(branch)
      await undoRecreate({ ports, repo, task }, why)
      return rolledBack
    case 'operation': {
      const operation = await findOperation(ports, repo, pending.operation)
      if (!operation) throw new AppError('failed', 'Its record is gone.')
      await clear(
        operation.refs.map(({ ref }) => ref),
        operation.at,
      )
      if (pending.staged) {
        const done = await finish({ ports, repo, task }, operation)
        return done ? { ...finished, left: done.left } : rolledBack
      }
      await takeBack({ ports, repo, task }, operation, why)
      return rolledBack
    }
    case 'publish':
      await clear(branch)
      await publishSteps({ ports, repo, task: await catchUp({ ports, repo, task }) })
      return finished
    case 'run': {
      // Processes that left the agent's group are not among the recorded children.
      await ports.processes.endRun(pending.run)
      await clearRunFolder(ports, pending.run)
      // Another run of the task may be publishing.
      if (runsOf(task).length === 1) await clear(branch)
      const { reason, trigger } = unendedRun(task, pending)
      const note = { tool: 'sweep', summary: why, run: pending.run }
      await endRun({ ports, repo, task }, note, { reason, trigger })
      return finished
    }
  }
}

/**
 * Settles a verb whose repository is gone. There is nothing to change in it, so only records and folders are settled. A
 * landing into a checkout stays pending, because the disk may just not be mounted.
 */
async function concludeGone(
  ports: Ports,
  repo: Repo,
  task: Task,
  pending: Pending,
  why: string,
): Promise<Conclusion> {
  switch (pending.verb) {
    case 'start':
    case 'recreate':
      return conclude(ports, repo, task, pending, why)
    case 'operation': {
      const operation = pending.staged ? await findOperation(ports, repo, pending.operation) : undefined
      if (!pending.staged) return conclude(ports, repo, task, pending, why)
      if (operation && (await finishWithoutRefs({ ports, repo, task }, operation))) return finished
      throw new AppError('failed', `${repo.commonDir} is gone, in which ${why}.`)
    }
    case 'publish':
      await append(ports, task.uid, { type: 'publish.undone', reason: why }, now(ports))
      return rolledBack
    case 'run': {
      await ports.processes.endRun(pending.run)
      await clearRunFolder(ports, pending.run)
      // A step needs objects of the repository, so none is taken; the folder stays.
      const { reason } = unendedRun(task, pending)
      const ended = { type: 'run.ended', run: pending.run, ok: false, reason } as const
      await holdTask(ports, task, { verb: 'run' }, async () => append(ports, task.uid, ended, now(ports)))
      return finished
    }
  }
}

/** Removes the lock files of git children that died with their process. */
async function clearLeft(
  ports: Pick<Ports, 'home' | 'locks' | 'refs' | 'repos'>,
  left: readonly LeftBehind[],
): Promise<void> {
  const repos = await ports.repos.readAll()
  // A record of a child is a file: nothing is deleted in a folder only because one names it.
  const known = [vaultsFolder(ports.home), ...repos.map(({ commonDir }) => commonDir)]
  for (const one of left)
    if (known.some((folder) => isBelow(one.gitDir, folder))) await ports.refs.clearSharedLocks(one)
  await clearMarks(ports)
}

/** Writing the mark of a repository belongs to no task, so every repository is checked for a lock on it. */
async function clearMarks(ports: Pick<Ports, 'locks' | 'refs' | 'repos'>): Promise<void> {
  for (const { commonDir } of await ports.repos.readAll()) {
    const place = { commonDir, gitDir: commonDir, checkout: null }
    const clear = () => ports.refs.clearRefLocks(place, [markRef])
    await ports.locks.hold(repoLock(place), { verb: 'recover' }, clear)
  }
}
