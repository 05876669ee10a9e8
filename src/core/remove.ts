import path from 'node:path'
import { AppError } from './errors.ts'
import type { Place, Ports, RefChange, Repo, StepFile } from './ports.ts'
import { findRepo } from './repo.ts'
import { isOpen, type Pending, type Task, taskLock } from './task.ts'
import { branchRef, freeTrash, pinRef, trashFolder } from './workspace.ts'

export interface RemoveInput {
  readonly dir: string
  /** One of the three names the task. */
  readonly task?: string | undefined
  readonly path?: string | undefined
  /** The workspace folder's name. */
  readonly name?: string | undefined
  readonly force?: boolean | undefined
  readonly keepBranch?: boolean | undefined
}

export interface Removed {
  readonly task: Task
  /** False: it had been removed before. */
  readonly removed: boolean
  /** What went into the trash with it although git does not know it. */
  readonly ignored: readonly string[]
  readonly branchKept: boolean
}

/** Takes a task's workspace, branch and registration away, into the trash. */
export async function remove(ports: Ports, input: RemoveInput, signal?: AbortSignal): Promise<Removed> {
  const { repo } = await findRepo(ports, input.dir)
  const named = repo && findNamed(ports, repo, input)
  if (!repo || !named) throw notFound(input)
  return ports.locks.hold(taskLock(repo.id, named.id), { verb: 'remove', signal }, async () => {
    const task = ports.store.findTaskByUid(named.uid) ?? named
    if (!isOpen(task)) return { task, removed: false, ignored: [], branchKept: task.state === 'kept' }
    const there = (await ports.files.readKind(task.path)) === 'folder'
    const ignored = there ? await ports.vault.readIgnored(repo, task, signal) : []
    if (there && !input.force) requireClean(task, await ports.vault.readDirt(repo, task, signal), ignored)
    const keepBranch =
      Boolean(input.keepBranch) || task.adopted || (await isUsedElsewhere(ports, repo.place, task))
    const trash = await freeTrash(ports, task.path)
    signal?.throwIfAborted()
    const owner = ports.processes.self()
    const at = ports.clock.now().toISOString()
    ports.store.append(task.uid, { type: 'remove.begun', owner, keepBranch, trash }, at)
    const closed = await finishRemove(ports, repo, task, { verb: 'remove', owner, keepBranch, trash })
    return { task: closed, removed: true, ignored, branchKept: keepBranch }
  })
}

function findNamed(ports: Ports, repo: Repo, input: RemoveInput): Task | undefined {
  if (input.task !== undefined) return ports.store.findTask(repo.id, input.task)
  if (input.path !== undefined) return ports.store.findTaskByPath(path.resolve(input.dir, input.path))
  return ports.store
    .readTasks({ repo: repo.id })
    .find((task) => path.basename(task.path) === input.name || task.id === input.name)
}

function notFound(input: RemoveInput): AppError {
  if (input.task !== undefined) return new AppError('WT_007', `There is no task ${input.task} here.`)
  const named = input.path ?? input.name
  return new AppError('WT_005', `There is no workspace ${named} here.`, { path: input.path })
}

function requireClean(task: Task, dirt: readonly StepFile[], ignored: readonly string[]): void {
  if (dirt.length === 0) return
  const count = `${dirt.length} ${dirt.length === 1 ? 'file' : 'files'}`
  throw new AppError('WT_004', `The workspace of ${task.id} has ${count} that no commit and no step holds.`, {
    path: task.path,
    hint: `offshoot checkpoint ${task.id} keeps them; with --force the folder goes into the trash as it is.`,
    data: { changed: dirt.map((file) => file.path), ignored },
  })
}

/** A branch that somebody has checked out must not vanish under them. */
async function isUsedElsewhere(ports: Ports, place: Place, task: Task): Promise<boolean> {
  const worktrees = await ports.git.readWorktrees(place)
  return worktrees.some((other) => other.branch === task.branch && other.path !== task.path)
}

/** From wherever it stopped to the end: recovery calls this too. */
export async function finishRemove(
  ports: Ports,
  repo: Repo,
  task: Task,
  pending: Extract<Pending, { verb: 'remove' }>,
): Promise<Task> {
  const { git } = ports
  const { place } = repo
  await trashFolder(ports, repo, task, pending.trash)
  const branch = branchRef(task.branch)
  await git.clearRefLocks(place, [pinRef(task.uid), keptRef(task.uid)])
  const changes: RefChange[] = []
  const tip = await git.findRef(place, branch)
  if (!pending.keepBranch && tip !== undefined) {
    // The branch's commits stay reachable for as long as the trash keeps the files.
    if ((await git.findRef(place, keptRef(task.uid))) === undefined) {
      changes.push({ ref: keptRef(task.uid), old: null, new: tip })
    }
    changes.push({ ref: branch, old: tip, new: null })
  }
  const pin = await git.findRef(place, pinRef(task.uid))
  if (pin !== undefined) changes.push({ ref: pinRef(task.uid), old: pin, new: null })
  if (changes.length > 0 && !(await git.changeRefs(place, changes, `offshoot: remove ${task.uid}`))) {
    throw new AppError('WT_008', `The branch ${task.branch} moved while it was being removed.`, {
      hint: 'Repeat the command.',
    })
  }
  return ports.store.append(task.uid, { type: 'remove.done' }, ports.clock.now().toISOString())
}

/** Holds what a removed branch pointed at. */
function keptRef(uid: string): string {
  return `refs/offshoot/trash/${uid}`
}
