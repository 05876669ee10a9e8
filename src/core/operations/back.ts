/** Takes an operation back: before its first effect, from the middle, or by its inverse as an operation of its own. */
import type { Work } from '../tasks/work.ts'
import path from 'node:path'
import { now } from '../base/time.ts'
import { AppError } from '../model/errors.ts'
import type { FileMove, IndexPart, Operation } from '../model/operation.ts'
import type { Repo } from '../model/repo.ts'
import type { Ports } from '../ports/index.ts'
import { append } from '../tasks/records.ts'
import { moveIndex, otherEntries, placeFiles, requireIndex, stagingFolder } from './files.ts'
import { lookAtRefs, moveRefs } from './refs.ts'

/** Takes back an operation that has touched nothing of the user: deletes the staged files. */
export async function takeBack(
  { ports, repo, task }: Work,
  operation: Operation,
  reason: string,
): Promise<void> {
  const { id, record } = operation
  const staging = stagingFolder(repo, operation)
  const pending = (await ports.store.findTaskByUid(task.uid))?.pending
  // If the last append fails, recovery must not finish the operation without its staged files.
  if (pending?.verb === 'operation' && pending.staged)
    await append(ports, task.uid, { type: 'operation.unstaged', id }, now(ports))
  if (operation.index) await ports.checkouts.unlockIndex(operation.index.gitDir, staging)
  if ((await ports.files.readKind(staging)) !== undefined) await ports.files.remove(staging)
  await append(ports, task.uid, { type: 'operation.undone', id, reason, patch: record.from }, now(ports))
}

/**
 * If we report a failure, the operation must not complete afterwards. Past the first moved ref it is too late, and recovery
 * completes it.
 */
export async function takeBackUnbegun(
  work: Work,
  operation: Operation,
  { message }: AppError,
): Promise<void> {
  const { ports, repo } = work
  try {
    const { begun } = await lookAtRefs(ports, repo, operation)
    if (!begun) await takeBack(work, operation, message)
  } catch {
    // Recovery tries again.
  }
}

/** Takes back an operation of which one file could not be written (no permission): every changed file goes back. */
export async function takeBackPlaced(work: Work, operation: Operation, cause: AppError): Promise<AppError> {
  const { ports, repo } = work
  const { problem, message, path: file } = cause
  try {
    await putBack(ports, repo, operation)
    await takeBack(work, operation, message)
    return new AppError(problem, message, { path: file, cause, hint: `Nothing was changed. ${cause.hint}` })
  } catch {
    const hint = `The next command that writes goes on with it. ${cause.hint}`
    return new AppError(problem, message, { path: file, cause, hint })
  }
}

/** If the process dies in here, the operation is still staged, and recovery finishes it. */
async function putBack(ports: Ports, repo: Repo, operation: Operation): Promise<void> {
  const { index } = operation
  const staging = stagingFolder(repo, operation)
  const back = inverse(operation, operation.id, operation.at)
  if (index && 'moves' in index) {
    if ((await otherEntries(ports, index)).length > 0) await moveIndex(ports, swappedIndex(index), staging)
  }
  // A whole index is replaced last, so here it must still be the old one.
  else if (index) await requireIndex(ports, repo, index.gitDir, index.from)
  await placeFiles(ports, repo, back, path.join(staging, 'back'))
  // Refs that are deleted after HEAD moves have not been deleted yet.
  const refs = back.refs.filter(({ old }) => !operation.head || old !== null)
  await moveRefs(ports, repo, { ...back, refs, head: undefined })
}

const swapped = (moves: readonly FileMove[]) =>
  moves.map(({ path: file, from, to }) => ({ path: file, from: to, to: from }))

function swappedIndex(index: IndexPart): IndexPart {
  if ('moves' in index) return { ...index, moves: swapped(index.moves) }
  return { ...index, from: index.to, to: index.from }
}

/** The operation that takes this one back. */
export function inverse(operation: Operation, id: string, at: string): Operation {
  const { files, index, head, workspace, record } = operation
  return {
    id,
    verb: 'undo',
    task: operation.task,
    at,
    undoes: operation.id,
    files: files && { ...files, moves: swapped(files.moves) },
    index: index && swappedIndex(index),
    head: head && { ...head, from: head.to, to: head.from },
    refs: operation.refs.map(({ ref, old, new: now }) => ({ ref, old: now, new: old })),
    workspace: workspace && { ...workspace, to: workspace.to === 'trash' ? 'back' : 'trash' },
    record: { from: record.to, to: record.from },
    final: operation.final,
  }
}
