/** The verb recover: settles dead verbs, then scans everything and repairs what is provably ours and dead. */
import { afterRun } from '../closing/auto-revert.ts'
import { appError, AppError } from '../model/errors.ts'
import { now } from '../base/time.ts'
import type { Ports } from '../ports/index.ts'
import { append } from '../tasks/records.ts'
import { repoAt } from '../tasks/repo.ts'
import { type Finding, judge, type Verdict } from './judge.ts'
import { mend } from './mend.ts'
import { scan } from './scan.ts'
import { settleAll, type Settled } from './settle.ts'

interface Recovery {
  readonly task: string
  readonly verdict: Settled['verdict'] | 'adopted' | 'quarantined'
  readonly why: string
}

export interface Recovered {
  readonly recovered: readonly Recovery[]
  /** Findings that are left to the user. */
  readonly reported: readonly Pick<Finding, 'name' | 'message' | 'hint'>[]
}

/**
 * Settles every dead verb, a run as if it had been cancelled, then scans all repositories and repairs what is provably ours
 * and dead.
 */
export async function recover(ports: Ports, signal?: AbortSignal): Promise<Recovered> {
  const settled = await settleAll(ports, signal)
  for (const { uid } of settled) await giveUp(ports, uid)
  const { recovered, reported } = await reconcile(ports, undefined, signal)
  return { recovered: [...settled.map(recoveryOf), ...recovered], reported }
}

/**
 * Does the same before a command that writes, but scans only the repositories of dead verbs. A scan that fails does not
 * stop the command.
 */
export async function recoverFirst(ports: Ports, signal?: AbortSignal): Promise<void> {
  const settled = await settleAll(ports, signal)
  // A verb that was left alone is no reason to scan its repository.
  const repos = new Set(settled.flatMap(({ repo, verdict }) => (verdict === 'left alone' ? [] : [repo])))
  if (repos.size === 0) return
  try {
    await reconcile(ports, repos, signal)
  } catch (thrown) {
    if (appError(thrown).kind === 'cancelled') throw thrown
  }
}

/** Runs the auto-revert that the end of the run would have started. */
async function giveUp(ports: Ports, uid: string): Promise<void> {
  const task = await ports.store.findTaskByUid(uid)
  const record = task?.trigger && (await ports.repos.findById(task.repo))
  if (task && record) await afterRun({ ports, repo: await repoAt(ports, record), task })
}

function recoveryOf({ task, verdict, why }: Settled): Recovery {
  return { task, verdict, why }
}

const verdictsDone: Partial<Record<Verdict, Recovery['verdict']>> = {
  finish: 'finished',
  'roll back': 'rolled back',
  adopt: 'adopted',
  quarantine: 'quarantined',
}

/** Scans, judges and repairs. If anything could not be read, nothing is repaired. */
async function reconcile(
  ports: Ports,
  repos: ReadonlySet<string> | undefined,
  signal?: AbortSignal,
): Promise<Recovered> {
  const world = await scan(ports, { repos }, signal)
  const recovered: Recovery[] = []
  const reported: Finding[] = []
  for (const finding of judge(world)) {
    signal?.throwIfAborted()
    const verdict = verdictsDone[finding.verdict]
    // `settleAll` has just tried the pending verbs.
    if (finding.mend?.do === 'settle') continue
    if (verdict === undefined || !finding.mend || world.failed.length > 0) reported.push(finding)
    else {
      const why = await mend(ports, finding.mend, signal).then(() => undefined, reasonOf)
      if (why === undefined) recovered.push({ task: subjectOf(finding), verdict, why: finding.message })
      else reported.push({ ...finding, message: `${finding.message}; left alone: ${why}` })
    }
  }
  await logOrphans(ports, reported)
  return { recovered, reported: reported.map(({ name, message, hint }) => ({ name, message, hint })) }
}

/** Appends each orphan that is left to the user to the log, once. */
async function logOrphans(ports: Ports, reported: readonly Finding[]): Promise<void> {
  const orphans = reported.flatMap(({ orphan }) => orphan ?? [])
  if (orphans.length === 0) return
  const told = await ports.store.readEvents({ types: ['orphan.found'] })
  const known = new Set(told.map(({ event }) => ('path' in event ? event.path : '')))
  for (const { repo, path, kind, branch, task: of } of orphans) {
    const named = of === null ? undefined : await ports.store.findTask(repo, of)
    const [last] = await ports.store.readTasks({ repo, limit: 1 })
    const bearer = named ?? last
    if (known.has(path) || !bearer) continue
    await append(ports, bearer.uid, { type: 'orphan.found', path, kind, branch, of }, now(ports))
  }
}

function reasonOf(thrown: unknown): string {
  const error = appError(thrown)
  if (error.kind === 'cancelled') throw new AppError('cancelled', error.message, { cause: error })
  return error.message
}

function subjectOf({ name, mend: how }: Finding): string {
  return how && 'task' in how ? how.task.id : name
}
