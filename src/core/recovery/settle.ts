/** Finishes or rolls back verbs whose process died. Starts no process when there is none. */
import { isBelow } from '../base/below.ts'
import { now } from '../base/time.ts'
import { appError, AppError } from '../model/errors.ts'
import type { LeftBehind } from '../model/git.ts'
import { vaultsFolder } from '../model/layout.ts'
import { branchRef, markRef, pinRef } from '../model/refs.ts'
import { type Repo, repoLock } from '../model/repo.ts'
import { type Pending, runLock, type Task, taskLock } from '../model/task.ts'
import { takeBack } from '../operations/back.ts'
import { findOperation } from '../operations/kept.ts'
import { finish, finishWithoutRefs } from '../operations/perform.ts'
import type { Ports } from '../ports/index.ts'
import { clearRunFolder } from '../runs/run-folder.ts'
import { endRun } from '../runs/end-run.ts'
import { publishSteps } from '../steps/publish.ts'
import { catchUp } from '../steps/take.ts'
import { holdTask } from '../tasks/hold.ts'
import { whyUnended } from '../tasks/liveness.ts'
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

/** Holding the lock proves that the process of the verb is dead; its git children may still run. */
export async function settle(ports: Ports, seen: Task): Promise<Settled> {
  const lock = seen.pending?.verb === 'run' ? runLock(seen.uid) : taskLock(seen.repo, seen.id)
  return ports.locks.hold(lock, { verb: 'recover', waitMs: 0 }, async () => {
    const task = await ports.store.findTaskByUid(seen.uid)
    const named = { uid: seen.uid, task: seen.id, repo: seen.repo }
    if (!task?.pending) return { ...named, verdict: 'left alone', why: 'It ended by itself.' }
    const record = await ports.repos.findById(task.repo)
    if (!record) throw new AppError('notFound', 'Its repository is not known.')
    const { pending } = task
    const why = whyUnended(pending)
    const gone = await isGone(ports, record)
    const repo = gone
      ? await repoAt(ports, record)
      : { ...record, place: await ports.locate(record.commonDir) }
    await ports.processes.endChildren(pending.owner, (left) => clearLeft(ports, left))
    const verdict = await (gone ? concludeGone : conclude)(ports, repo, task, pending, why)
    return { ...named, verdict, why }
  })
}

async function conclude(
  ports: Ports,
  repo: Repo,
  task: Task,
  pending: Pending,
  why: string,
): Promise<Settled['verdict']> {
  const clear = (refs: string[], since?: string) => ports.refs.clearRefLocks(repo.place, refs, since)
  const branch = task.adopted ? [] : [branchRef(task.branch)]
  switch (pending.verb) {
    case 'start':
      await clear([pinRef(task.uid), ...branch], task.createdAt)
      await undoStart({ ports, repo, task }, { message: why })
      return 'rolled back'
    case 'recreate':
      await clear(branch)
      await undoRecreate({ ports, repo, task }, why)
      return 'rolled back'
    case 'operation': {
      const operation = await findOperation(ports, repo, pending.operation)
      if (!operation) throw new AppError('notFound', 'Its record is gone.')
      await clear(
        operation.refs.map(({ ref }) => ref),
        operation.at,
      )
      if (pending.staged) return (await finish({ ports, repo, task }, operation)) ? 'finished' : 'rolled back'
      await takeBack({ ports, repo, task }, operation, why)
      return 'rolled back'
    }
    case 'publish':
      await clear(branch)
      await publishSteps({ ports, repo, task: await catchUp({ ports, repo, task }) })
      return 'finished'
    case 'run':
      // Processes that left the agent's group are not among the recorded children.
      await ports.processes.endRun(pending.run)
      await clearRunFolder(ports, pending.run)
      await clear(branch)
      await endRun({ ports, repo, task }, { tool: 'sweep', summary: why, run: pending.run }, why)
      return 'finished'
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
): Promise<Settled['verdict']> {
  switch (pending.verb) {
    case 'start':
    case 'recreate':
      return conclude(ports, repo, task, pending, why)
    case 'operation': {
      const operation = pending.staged ? await findOperation(ports, repo, pending.operation) : undefined
      if (!pending.staged) return conclude(ports, repo, task, pending, why)
      if (operation && (await finishWithoutRefs({ ports, repo, task }, operation))) return 'finished'
      throw new AppError('notFound', `${repo.commonDir} is gone, in which ${why}.`)
    }
    case 'publish':
      await append(ports, task.uid, { type: 'publish.undone', reason: why }, now(ports))
      return 'rolled back'
    case 'run': {
      await ports.processes.endRun(pending.run)
      await clearRunFolder(ports, pending.run)
      // A step needs objects of the repository, so none is taken; the folder stays.
      const ended = { type: 'run.ended', run: pending.run, ok: false, reason: why } as const
      await holdTask(ports, task, { verb: 'run' }, async () => append(ports, task.uid, ended, now(ports)))
      return 'finished'
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
