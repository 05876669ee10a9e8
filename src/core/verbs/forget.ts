/** The verb repos forget: rejects all open tasks of a repository, and lists it no more. */
import path from 'node:path'
import { apart, type Failed } from '../base/failures.ts'
import { now } from '../base/time.ts'
import { close } from '../closing/close-task.ts'
import { AppError } from '../model/errors.ts'
import type { RepoRecord } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { type Needs, withFound } from '../steps/with-task.ts'
import { requireIdle, requireSettled } from '../tasks/guards.ts'
import { forgottenNote } from '../tasks/repo.ts'
import type { Work } from '../tasks/work.ts'
import { requireUnmoved } from '../workspaces/moved.ts'
import { emptyPool } from '../workspaces/pool.ts'
import { requireOnBranch } from '../workspaces/recreate.ts'

export interface Forgotten {
  /** The repository's git folder. */
  readonly path: string
  readonly closed: readonly { readonly task: Task; readonly operation: string }[]
  /** Tasks that could not be closed; because of them the repository stays listed. */
  readonly errors: readonly Failed[]
}

/** Each task is closed by an operation of its own, which undo takes back. */
export async function forget(
  ports: Ports,
  input: { readonly path: string },
  signal?: AbortSignal,
): Promise<Forgotten> {
  const record = await findKnown(ports, input.path)
  if (!record) {
    const hint = 'offshoot repos lists them, each with its path.'
    throw new AppError('notFound', `offshoot knows no repository ${input.path}.`, {
      path: input.path,
      hint,
    })
  }
  const { id, commonDir } = record
  const isThere = (await ports.files.readKind(commonDir)) === 'folder'
  const place = { commonDir, gitDir: commonDir, checkout: null }
  const repo = { ...record, place: isThere ? await ports.locate(commonDir) : place }
  const tasks = await ports.store.readTasks({ repo: id, open: true })
  // All checks come before the first task is closed: all or nothing.
  for (const task of tasks) await requireClosable({ ports, repo, task }, isThere)
  const closed: Forgotten['closed'][number][] = []
  const errors: Failed[] = []
  for (const task of tasks)
    await apart([task], errors, async () => closed.push(await giveUp({ ports, repo, task, signal }, isThere)))
  const [first] = errors
  if (first && closed.length === 0) throw first.error
  if (errors.length > 0) return { path: commonDir, closed, errors }
  await emptyPool(ports, repo, signal)
  await ports.notes.put(forgottenNote(id), now(ports))
  return { path: commonDir, closed, errors }
}

/** Throws for every obstacle that can be known in advance. */
async function requireClosable(work: Work, isThere: boolean): Promise<void> {
  const { ports, repo, task } = work
  requireSettled(task)
  requireIdle(task)
  if (!isThere) return
  await requireUnmoved(work)
  if ((await ports.files.readKind(task.path)) !== 'folder') return
  await requireOnBranch(work)
  await ports.steps.findTip(repo, task)
}

/** The repository that the folder is in; for one that is gone, by its old path. */
async function findKnown({ locate, repos, files }: Ports, where: string): Promise<RepoRecord | undefined> {
  const found = await locate(where).catch(() => undefined)
  if (found) return repos.findAt(found.commonDir)
  const real = await files.readRealPath(path.resolve(where))
  return (await repos.findAt(real)) ?? (await repos.findAt(path.join(real, '.git')))
}

function giveUp(found: Work, isThere: boolean) {
  // A step needs objects of the repository; without it the folder itself is kept, in the trash.
  const needs: Needs = isThere
    ? { state: 'open', checks: ['idle', 'onBranch'], sweep: 'before the repository was forgotten' }
    : { state: 'open', checks: ['idle'] }
  return withFound(found, { verb: 'forget', needs }, async (work) => {
    const { task, operation } = await close(work, {})
    return { task, operation }
  })
}
