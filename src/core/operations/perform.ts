/**
 * Performs an operation: files of a checkout, its index, refs, a workspace and the task's record, changed together
 * (docs/adr/0015-operations-staged-then-finished.md). The record is written before anything is touched. Until every new
 * file is staged, recovery takes the operation back; from then on recovery finishes it: a kill leaves all of it or nothing.
 */
import type { Work } from '../tasks/work.ts'
import path from 'node:path'
import { eachOf } from '../base/concurrency.ts'
import { now } from '../base/time.ts'
import { following } from '../base/watch.ts'
import { appError, AppError } from '../model/errors.ts'
import type { TaskEvent } from '../model/events.ts'
import type { Operation, OperationNote, StepMove, WorkspaceMove } from '../model/operation.ts'
import type { Repo } from '../model/repo.ts'
import type { Task, TaskPatch } from '../model/task.ts'
import { trashOf, trashParts } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'
import { publishSteps } from '../steps/publish.ts'
import { catchUp, takeStep } from '../steps/take.ts'
import { append, appendAll } from '../tasks/records.ts'
import { isGone } from '../tasks/repo.ts'
import { isolationOf } from '../workspaces/make.ts'
import { goesOnHint, takeBack, takeBackPlaced, takeBackUnbegun } from './back.ts'
import {
  type HeldFolders,
  isOnlyRecorded,
  makeFolders,
  moveIndex,
  placeFiles,
  stage,
  stagingFolder,
  withFolders,
} from './files.ts'
import { lookAtRefs, movedTo, moveHead, moveRefs, overtaken } from './refs.ts'
import { seedShadow } from './shadow.ts'

/** What an operation came to. */
export interface Performed {
  readonly task: Task
  /** Files that somebody changed meanwhile: the operation did not write them. */
  readonly left: readonly string[]
}

/**
 * Carries an operation out. The caller holds the task's lock. It can be cancelled until everything is staged, and then goes
 * on to its end (docs/adr/0052-the-point-of-no-return.md).
 */
export async function perform(begun: Work, operation: Operation): Promise<Performed> {
  const { signal, ...work } = begun
  const { ports, repo, task } = work
  const { id } = operation
  signal?.throwIfAborted()
  const kept = await keptOf(ports, repo, operation)
  signal?.throwIfAborted()
  await ports.journal.keep(repo, [kept])
  await append(ports, task.uid, begunBy(ports, operation), operation.at)
  try {
    await stage(begun, operation)
    signal?.throwIfAborted()
    work.watch?.settle(operation.verb)
    await append(ports, task.uid, { type: 'operation.staged', id }, now(ports))
    await moveRefs(ports, repo, operation)
  } catch (error) {
    await takeBackUnbegun(work, operation, appError(error))
    throw error
  }
  const left = await withFolders(ports, operation, (held) =>
    place(work, operation, held).catch(async (thrown: unknown) => {
      throw await takeBackPlaced(work, operation, held, appError(thrown))
    }),
  )
  await moveRest(work, operation)
  return conclude(work, operation, left)
}

/**
 * An operation that closes its task, and changes only refs, the workspace and the record. All operations of a batch have
 * the same time.
 */
export interface Act {
  readonly task: Task
  readonly operation: Operation & { readonly batch: string }
}

/**
 * Performs many operations in little more time than one (docs/adr/0021-prune-in-batches.md): their records, their marks and
 * their refs are written together. From the mark on each is an operation of its own, so the failure of one does not stop
 * the others. The caller holds the locks of all tasks.
 */
export async function performAll(
  ports: Ports,
  repo: Repo,
  acts: readonly Act[],
): Promise<readonly (Task | AppError)[]> {
  const [first] = acts
  if (!first) return []
  await ports.journal.keep(
    repo,
    await Promise.all(acts.map(({ operation }) => keptOf(ports, repo, operation))),
  )
  const eachOne = (event: (operation: Operation) => TaskEvent) =>
    acts.map(({ task: { uid }, operation }) => ({ uid, event: event(operation) }))
  await appendAll(
    ports,
    eachOne((operation) => begunBy(ports, operation)),
    first.operation.at,
  )
  await appendAll(
    ports,
    eachOne(({ id }) => ({ type: 'operation.staged', id })),
    now(ports),
  )
  const refs = acts.flatMap(({ operation }) => operation.refs)
  // If somebody has moved a single ref, the whole change is refused; then each operation tries alone.
  const areMoved = await moveRefs(ports, repo, { ...first.operation, refs }).catch(() => false)
  const proceed = areMoved ? afterRefs : carryOut
  const ended = new Map<string, Done | AppError>()
  await eachOf(acts, 8, async ({ task, operation }) => {
    const left = await proceed(ports, repo, task, operation).catch(async (thrown: unknown) => {
      const error = appError(thrown)
      if (operation.refs.length > 0) await takeBackUnbegun({ ports, repo, task }, operation, error)
      return error
    })
    if (left === undefined) ended.set(task.uid, overtaken(operation.refs))
    else ended.set(task.uid, left instanceof AppError ? left : doneWith(operation, left))
  })
  const done = Array.from(ended).flatMap(([uid, event]) =>
    event instanceof AppError ? [] : [{ uid, event }],
  )
  const at = now(ports)
  await noteDone(
    ports,
    repo,
    done.map(({ event }) => event),
    at,
  )
  const closed = new Map((await appendAll(ports, done, at)).map((task) => [task.uid, task]))
  return acts.map(({ task }) => closed.get(task.uid) ?? (ended.get(task.uid) as AppError))
}

async function keptOf(ports: Pick<Ports, 'contents'>, repo: Repo, operation: Operation) {
  const record = { ...operation, commonDir: repo.commonDir }
  return { name: operation.id, record, trees: await treesOf(ports, repo, operation) }
}

function begunBy(ports: Pick<Ports, 'processes'>, { id, verb, undoes, batch, final }: Operation): TaskEvent {
  return { type: 'operation.begun', id, verb, undoes, batch, final, owner: ports.processes.self() }
}

/** The trees with the contents that the operation needs, so that the vault keeps them. */
async function treesOf(
  ports: Pick<Ports, 'contents'>,
  repo: Repo,
  { files, strays = [], index, step }: Operation,
): Promise<Record<string, string>> {
  if (step) return { step: step.tree }
  const moves = [...(files?.moves ?? []), ...strays.flatMap((part) => part.moves)]
  if (moves.length === 0 && !index) return {}
  const { contents } = ports
  const empty = await contents.change(repo, null, new Map())
  // Files are named by their number, because their own paths would need a tree for each folder.
  const tree = (side: 'from' | 'to') =>
    contents.change(repo, empty, new Map(moves.map((move, n) => [String(n), move[side]])))
  const trees = { before: await tree('from'), after: await tree('to') }
  if (!index || 'moves' in index) return trees
  const indexes = await contents.change(
    repo,
    empty,
    new Map(Object.entries({ from: index.from, to: index.to })),
  )
  return { ...trees, indexes }
}

/**
 * Finishes an operation from wherever it stopped, also for recovery. A part that is done already is skipped. The refs go
 * first, because only they can be refused, if somebody else has moved them. Then nothing else has been touched, and the
 * operation is taken back, which answers undefined.
 */
export async function finish(work: Work, operation: Operation): Promise<Performed | undefined> {
  const { ports, repo, task } = work
  const left = await carryOut(ports, repo, task, operation)
  return left && conclude(work, operation, left)
}

/**
 * Finishes an operation whose repository is gone with its refs. Answers false, and does nothing, if the operation also
 * writes into a checkout, which is gone too.
 */
export async function finishWithoutRefs(work: Work, operation: Operation): Promise<boolean> {
  const { files, strays, index, head, step, workspace } = operation
  const writes = files ?? strays ?? index ?? head ?? step
  if (writes && !isOnlyRecorded(operation)) return false
  if (workspace) await moveWorkspace(work, workspace)
  await conclude(work, operation, [])
  return true
}

async function conclude(work: Work, operation: Operation, left: readonly string[]): Promise<Performed> {
  const { ports, repo, task } = work
  const landed = operation.verb === 'start' ? await seedShadow(work) : undefined
  const { id, auto } = operation
  const done = doneWith(operation, left, landed && { landed })
  const events: TaskEvent[] = auto ? [done, { type: 'reverted', ...auto, operation: id }] : [done]
  const at = now(ports)
  await noteDone(ports, repo, [done], at)
  const log = events.map((event) => ({ uid: task.uid, event }))
  const closed = (await appendAll(ports, log, at)).at(-1) ?? task
  if (!operation.step) return { task: closed, left }
  return { task: await publishSteps({ ...work, task: closed, signal: undefined }), left }
}

type Done = Extract<TaskEvent, { type: 'operation.done' }>

function doneWith(operation: Operation, left: readonly string[], more?: TaskPatch): Done {
  const { id, record } = operation
  return { type: 'operation.done', id, commit: movedTo(operation), patch: { ...record.to, ...more }, left }
}

/** Notes the completion in the vault, from which lost records are rebuilt. */
function noteDone(
  ports: Pick<Ports, 'journal'>,
  repo: Repo,
  done: readonly Done[],
  at: string,
): Promise<void> {
  const notes = done.map(({ id, patch, left }) => ({
    name: id,
    note: { at, patch, left } satisfies OperationNote,
  }))
  return ports.journal.noteDone(repo, notes)
}

/** Does everything but the record. Answers the paths that somebody changed meanwhile. */
async function carryOut(
  ports: Ports,
  repo: Repo,
  task: Task,
  operation: Operation,
): Promise<string[] | undefined> {
  const { moved, begun } = await lookAtRefs(ports, repo, operation)
  if (moved.length > 0 && !begun) {
    await takeBack({ ports, repo, task }, operation, overtaken(moved).message)
    return undefined
  }
  await makeFolders(ports, operation)
  await moveRefs(ports, repo, operation)
  return afterRefs(ports, repo, task, operation)
}

async function afterRefs(ports: Ports, repo: Repo, task: Task, operation: Operation): Promise<string[]> {
  const work = { ports, repo, task }
  const left = await withFolders(ports, operation, (held) => place(work, operation, held))
  await moveRest(work, operation)
  return left
}

async function place(work: Work, operation: Operation, held: HeldFolders): Promise<string[]> {
  const { ports, repo } = work
  if (isOnlyRecorded(operation)) return []
  const staging = stagingFolder(repo, operation)
  const left = await placeFiles(work, operation, staging, held)
  for (const folder of held.values()) folder.requireInPlace()
  if (operation.index) await moveIndex(ports, operation.index, staging)
  return left
}

async function moveRest(work: Work, operation: Operation): Promise<void> {
  const { ports, repo } = work
  if (operation.head) await moveHead(ports, repo, operation, operation.head)
  if (operation.workspace) await moveWorkspace(work, operation.workspace)
  if (operation.step) await moveStep(work, operation.step)
  const staging = stagingFolder(repo, operation)
  if ((await ports.files.readKind(staging)) !== undefined) await ports.files.remove(staging)
}

async function moveStep(work: Work, { before, tree, note }: StepMove) {
  const { ports, repo, task } = work
  const now = await catchUp({ ...work, signal: undefined })
  const last = await ports.steps.findTip(repo, task)
  if (!last || last.n > before) return
  // An interrupted restore left old and new files, so all of them are written again.
  const follow = following({ watch: work.watch }, 'writing')
  await ports.steps.restore(repo, task, last, { ...last, tree }, follow).catch((thrown: unknown) => {
    throw goesOn(appError(thrown))
  })
  await takeStep({ ...work, task: now, signal: undefined }, note)
}

/** Somebody was in the way, and files of both steps are there now. */
function goesOn(error: AppError): AppError {
  const { problem, message, data, hint } = error
  if (problem !== 'conflict') return error
  return new AppError(problem, message, { data, cause: error, hint: `${hint} ${goesOnHint}` })
}

async function moveWorkspace({ ports, repo, task }: Work, move: WorkspaceMove): Promise<void> {
  const { workspace: folder, registration } = trashParts(move.trash)
  const isolation = isolationOf(ports, task)
  const [from, to] = move.to === 'trash' ? [task.path, folder] : [folder, task.path]
  if ((await ports.files.readKind(from)) !== undefined && (await ports.files.readKind(to)) === undefined) {
    const folders = [path.dirname(to), path.dirname(from)]
    await ports.files.makeFolder(path.dirname(to), 0o700)
    // A power cut must not leave the files in a folder whose own name never reached the disk.
    if (move.to === 'trash')
      await ports.durable.sync([trashOf(path.dirname(task.path)), path.dirname(task.path)])
    await ports.files.rename(from, to).catch((error: NodeJS.ErrnoException) => {
      throw unmovable.has(error.code ?? '') ? moveError(from, error) : error
    })
    await ports.durable.sync(folders)
  }
  // Nothing can be written into a missing repository; if it comes back, repair registers the folder again.
  if (await isGone(ports, repo)) return
  if (move.to === 'trash') await isolation.detach(repo, task, registration)
  else await isolation.attach(repo, task, registration)
}

/** The error codes for a folder that cannot be renamed: a mount point, for example, or one without permission. */
const unmovable = new Set(['EBUSY', 'EXDEV', 'EPERM', 'EACCES', 'EROFS'])

function moveError(folder: string, cause: Error): AppError {
  return new AppError('cleanUpFailed', `The folder cannot be moved: ${cause.message}`, {
    path: folder,
    cause,
    hint: `See what holds it. ${goesOnHint}`,
  })
}
