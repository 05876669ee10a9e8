/** Takes an operation back: before its first effect, from the middle, or by its inverse as an operation of its own. */
import path from 'node:path'
import { now } from '../base/time.ts'
import { AppError } from '../model/errors.ts'
import type { Operation } from '../model/operation.ts'
import { append } from '../tasks/records.ts'
import type { Work } from '../tasks/work.ts'
import {
  moveIndex,
  otherEntries,
  placeFiles,
  requireIndex,
  stagingFolder,
  type HeldFolders,
} from './files.ts'
import { inverse, swappedIndex } from './inverse.ts'
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

/** The hint where an operation stays half-done. */
export const goesOnHint = 'The next command that writes goes on with it.'

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

/**
 * Takes back an operation of which one file could not be written (no permission, or a link in the place of a folder): every
 * changed file goes back, in the folders that are still held open.
 */
export async function takeBackPlaced(
  work: Work,
  operation: Operation,
  held: HeldFolders,
  cause: AppError,
): Promise<AppError> {
  const { problem, message, path: file, data } = cause
  try {
    const left = await putBack(work, operation, held)
    await takeBack(work, operation, message)
    const said =
      left.length === 0
        ? 'Nothing was changed.'
        : `Somebody has just changed ${left.join(', ')}; the rest is as it was.`
    return new AppError(problem, message, { path: file, cause, data, hint: `${said} ${cause.hint}` })
  } catch {
    return new AppError(problem, message, { path: file, cause, data, hint: `${cause.hint} ${goesOnHint}` })
  }
}

/**
 * Answers the paths that somebody changed meanwhile. If the process dies in here, the operation is still staged, and recovery
 * finishes it.
 */
async function putBack({ ports, repo }: Work, operation: Operation, held: HeldFolders): Promise<string[]> {
  const { index } = operation
  const staging = stagingFolder(repo, operation)
  const back = inverse(operation, operation.id, operation.at)
  if (index && 'moves' in index) {
    if ((await otherEntries(ports, index)).length > 0) await moveIndex(ports, swappedIndex(index), staging)
  }
  // A whole index is replaced last, so here it must still be the old one.
  else if (index) await requireIndex(ports, repo, index.gitDir, index.from)
  const left = await placeFiles({ ports, repo }, back, path.join(staging, 'back'), held)
  // Refs that are deleted after HEAD moves have not been deleted yet.
  const refs = back.refs.filter(({ old }) => !operation.head || old !== null)
  await moveRefs(ports, repo, { ...back, refs, head: undefined })
  return left
}
