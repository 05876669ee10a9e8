/** The verb undo: takes an operation back. */
import { quoted } from '../base/shell-quote.ts'
import { now } from '../base/time.ts'
import type { Watch } from '../base/watch.ts'
import { whereItIsNow, withLaterEdits, withoutEdited } from '../landing/later-edits.ts'
import { type BytePath, toText } from '../model/bytes.ts'
import { AppError, appError, conflictError } from '../model/errors.ts'
import type { Operation, StepMove } from '../model/operation.ts'
import { branchRef } from '../model/refs.ts'
import type { Repo } from '../model/repo.ts'
import { isOpen, type Task } from '../model/task.ts'
import { inverse } from '../operations/inverse.ts'
import { overlaps } from '../operations/files.ts'
import { requireFits } from '../operations/fits.ts'
import { findOperation } from '../operations/kept.ts'
import { type KnownOperation, operationsOf, reposWith, undoneTogether } from '../operations/known.ts'
import { perform } from '../operations/perform.ts'
import type { Ports } from '../ports/index.ts'
import { basisOf, requireStep } from '../steps/history.ts'
import { takeStep } from '../steps/take.ts'
import { requireNeeds, withFound } from '../steps/with-task.ts'
import { findRepo, repoAt } from '../tasks/repo.ts'
import type { Work } from '../tasks/work.ts'
import { ensureWorkspace } from '../workspaces/recreate.ts'

export interface UndoInput {
  readonly dir: string
  /** Left out: the last operation that is not undone, is no undo, and is not the strays of a run. */
  readonly operation?: string | undefined
}

export interface UndoneOperation {
  readonly task: Task
  readonly undone: KnownOperation
  readonly operation: string
  readonly files: readonly string[]
  /** Files that somebody has changed since the run, or meanwhile: these stay as they are. */
  readonly left: readonly string[]
}

export interface Undone extends UndoneOperation {
  /** What belonged to it, and was undone with it. */
  readonly also: readonly UndoneOperation[]
  /** What belonged to it, and could not be undone. */
  readonly errors: readonly { readonly undone: KnownOperation; readonly error: AppError }[]
}

/** Merges later edits with the undo; throws, and does nothing, when they overlap. */
export async function undo(
  ports: Ports,
  input: UndoInput,
  signal?: AbortSignal,
  watch?: Watch,
): Promise<Undone> {
  if (input.operation === '')
    throw new AppError('wrongUsage', 'The id of the operation is empty.', {
      hint: 'offshoot ops lists the operations.',
    })
  const repo = await repoOf(ports, input)
  const all = repo ? await operationsOf(ports, repo) : []
  const chosen = all.find(({ id, verb, undone, expired }) =>
    input.operation === undefined
      ? !undone && !expired && verb !== 'undo' && verb !== 'run'
      : id.startsWith(input.operation),
  )
  if (!repo || !chosen) {
    const which =
      input.operation === undefined
        ? 'There is nothing to undo in this repository.'
        : `There is no operation ${input.operation}.`
    throw new AppError('notFound', which, { hint: 'offshoot ops lists the operations.' })
  }
  requireUndoable(chosen)
  const [first = chosen, ...others] = undoneTogether(all, chosen, input.operation !== undefined)
  const place = { ports, repo, signal, watch }
  const done = await takeBack(place, all, first)
  const also: UndoneOperation[] = []
  const errors: Undone['errors'][number][] = []
  for (const undone of others)
    await takeBack(place, all, undone, done.operation).then(
      (one) => also.push(one),
      (thrown: unknown) => errors.push({ undone, error: appError(thrown) }),
    )
  return { ...done, also, errors }
}

function requireUndoable({ id, undone, expired }: KnownOperation): void {
  if (undone)
    throw new AppError('wrongUsage', `${id} has been undone already.`, {
      hint: 'offshoot ops lists the operations.',
    })
  if (expired)
    throw new AppError('notFound', `${id} is too old to be undone: the trash no longer has it.`, {
      hint: 'The setting trash.keepDays says how long an operation can be undone.',
    })
}

/** Undoes one operation; `batch` is the undo that this one belongs to. */
async function takeBack(
  { ports, repo, signal, watch }: Omit<Work, 'task'>,
  all: readonly KnownOperation[],
  chosen: KnownOperation,
  batch?: string,
): Promise<UndoneOperation> {
  const operation = await findOperation(ports, repo, chosen.id)
  const task = operation && (await ports.store.findTaskByUid(operation.task))
  const hint = 'offshoot ops lists the other operations; name one of them.'
  if (!operation || !task) throw new AppError('notFound', `The record of ${chosen.id} is gone.`, { hint })
  if (operation.final !== undefined)
    throw new AppError('policyRefused', `${chosen.id} cannot be undone: ${operation.final}.`, { hint })
  const needs = { state: 'any', checks: ['idle'] } as const
  return withFound({ ports, repo, task, signal, watch }, { verb: 'undo', needs }, async (work) => {
    const inverted = inverse(operation, ports.ids.uid(), now(ports), batch)
    const swapped = hasLanded(all, chosen) ? await whereItIsNow(work, inverted) : inverted
    const { back, left } =
      operation.verb === 'run'
        ? await withoutEdited(work, swapped)
        : { back: await fitted(work, operation, swapped), left: [] }
    await requireFits(work, back)
    if (operation.verb === 'run') await requireUnused(ports, repo, back)
    const performed = await perform(work, back)
    const done = await remakeFolder({ ...work, task: performed.task })
    const moves = [...(back.files?.moves ?? []), ...(back.strays ?? []).flatMap((part) => part.moves)]
    const files = [...moves.map(({ path: file }) => file), ...(await changedInWorkspace(work, back))].map(
      toText,
    )
    return { task: done, undone: chosen, operation: back.id, files, left: [...left, ...performed.left] }
  }).catch((thrown: unknown) => {
    throw naming(chosen, appError(thrown))
  })
}

/** A conflict says what could not be undone: the user may have named no operation. */
function naming({ id, verb, task }: KnownOperation, error: AppError): AppError {
  if (error.problem !== 'conflict') return error
  const { message, hint, path: where, cause } = error
  const why = message.replace(/^Conflict/, 'conflict')
  return new AppError('conflict', `${verb} ${id.slice(0, 6)} of ${task} cannot be undone: ${why}`, {
    hint,
    path: where,
    data: error.data,
    cause,
  })
}

/** The repository that the command is typed in, unless only another one has the named operation. */
async function repoOf(ports: Ports, { dir, operation }: UndoInput): Promise<Repo | undefined> {
  if (operation === undefined) return (await findRepo(ports, dir)).repo
  const here = await findRepo(ports, dir).then(
    ({ repo }) => ({ repo }),
    (thrown: unknown) => ({ thrown }),
  )
  const known = 'repo' in here ? here.repo : undefined
  const [first, second] = await reposWith(ports, operation)
  if (known && [first, second].includes(known.id)) return known
  if (first === undefined) {
    if ('thrown' in here) throw here.thrown
    return known
  }
  const record = second === undefined ? await ports.repos.findById(first) : undefined
  if (record) return repoAt(ports, record)
  throw new AppError('notFound', `Operations of several repositories begin with ${operation}.`, {
    hint: 'Give more of the id, or repeat in the repository that is meant.',
  })
}

/** Fits the inverse of an operation to what has changed since. */
async function fitted(work: Work, operation: Operation, swapped: Operation): Promise<Operation> {
  if (operation.step) return { ...swapped, step: await stepBack(work, operation, operation.step) }
  return operation.head ? swapped : withLaterEdits(work, swapped)
}

/** Whether the operation, or the one that it took back, is an accept. */
function hasLanded(all: readonly KnownOperation[], { verb, undoes }: KnownOperation): boolean {
  const undone = all.find(({ id }) => id === undoes)
  return undone ? hasLanded(all, undone) : verb === 'accept'
}

/** Makes a folder that has left the trash again from the last step. */
async function remakeFolder(work: Work): Promise<Task> {
  const { ports, task } = work
  if (!isOpen(task) || task.shadow || (await ports.files.readKind(task.path)) !== undefined) return task
  return (await ensureWorkspace(work)).task
}

/** The files that an undo of a rewind or an update changed in the workspace. */
async function changedInWorkspace({ ports, repo, task }: Work, { step }: Operation): Promise<BytePath[]> {
  if (!step) return []
  const before = requireStep(task, await ports.steps.readSteps(repo, task), step.before)
  return [...(await ports.contents.compare(repo, before.tree, step.tree)).keys()]
}

/** The workspace as it was before the operation, merged with the work since. */
async function stepBack(begun: Work, { id, verb }: Operation, { before }: StepMove): Promise<StepMove> {
  const work = await requireNeeds(begun, { state: 'open', checks: ['workspace'] })
  const { ports, repo, task, signal } = work
  const kept = { tool: 'checkpoint', summary: `before the undo of ${verb}` }
  const { step: last } = await takeStep(work, kept)
  const steps = await ports.steps.readSteps(repo, task)
  const [then, after] = [requireStep(task, steps, before), requireStep(task, steps, before + 1)]
  const sides = { base: after.tree, ours: last.tree, theirs: then.tree, labels: ['now', 'before'] as const }
  const { tree, conflicts } = await ports.contents.merge(repo, sides, signal)
  if (conflicts.length > 0) throw conflictError(conflicts, overlaps, task.path)
  const exact = tree === then.tree
  const note = exact ? { rewindTo: before } : { basis: basisOf(steps.slice(0, before + 1)) }
  return { before: last.n, tree, note: { tool: 'undo', summary: `of ${verb} ${id}`, ...note } }
}

/** Throws when a branch that the undo deletes is checked out somewhere, and stays so. */
async function requireUnused(ports: Pick<Ports, 'git'>, repo: Repo, back: Operation): Promise<void> {
  const deleted = new Set(back.refs.flatMap((change) => (change.new === null ? [change.ref] : [])))
  const own = back.strays?.find(({ folder }) => folder === repo.commonDir)?.moves ?? []
  const switched = new Set(own.map(({ path: file }) => file))
  const user = (await ports.git.readWorktrees(repo.place)).find(
    ({ name, branch }) =>
      branch !== null &&
      deleted.has(branchRef(branch)) &&
      !switched.has(name === null ? 'HEAD' : `worktrees/${name}/HEAD`),
  )
  if (user)
    throw new AppError('branchInUse', `${user.branch} is checked out in ${user.path}.`, {
      path: user.path,
      hint: `Leave that branch first: git -C ${quoted(user.path)} switch --detach`,
    })
}
