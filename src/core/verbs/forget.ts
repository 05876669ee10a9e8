/** The verb forget: gives up every open task of a repository, and lists the repository no more. */
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
  /** Tasks that could not be closed after all; the repository stays listed while there are any. */
  readonly errors: readonly Failed[]
}

/** Gives up every open task of a repository, one operation each, and lists the repository no more. */
export async function forget(
  ports: Ports,
  input: { readonly path: string },
  signal?: AbortSignal,
): Promise<Forgotten> {
  const record = await findKnown(ports, input.path)
  if (!record) {
    const hint = 'offshoot repos lists them, each with its path.'
    throw new AppError('notFound', `${input.path} is no repository that is known.`, {
      path: input.path,
      hint,
    })
  }
  const { id, commonDir } = record
  const isThere = (await ports.files.readKind(commonDir)) === 'folder'
  const place = { commonDir, gitDir: commonDir, checkout: null }
  const repo = { ...record, place: isThere ? await ports.locate(commonDir) : place }
  const tasks = await ports.store.readTasks({ repo: id, open: true })
  // Before the first is closed: all of it, or nothing.
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

/** Throws for every reason not to close the task that can be known before the first one is closed. */
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

/** A repository is found by any folder in it; one that is gone, by where its git folder or its checkout was. */
async function findKnown({ locate, repos, files }: Ports, where: string): Promise<RepoRecord | undefined> {
  const found = await locate(where).catch(() => undefined)
  if (found) return repos.findAt(found.commonDir)
  const real = await files.readRealPath(path.resolve(where))
  return (await repos.findAt(real)) ?? (await repos.findAt(path.join(real, '.git')))
}

function giveUp(found: Work, isThere: boolean) {
  // Without the repository's objects no change can be told from the base: the folder itself is kept, in the trash.
  const needs: Needs = isThere
    ? { state: 'open', checks: ['idle', 'onBranch'], sweep: 'before the repository was forgotten' }
    : { state: 'open', checks: ['idle'] }
  return withFound(found, { verb: 'forget', needs }, async (work) => {
    const { task, operation } = await close(work, {})
    return { task, operation }
  })
}
