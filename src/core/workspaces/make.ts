/** Makes the workspace of a task, and takes it back. Each effect can be repeated after a crash. */
import type { Work } from '../tasks/work.ts'
import path from 'node:path'
import { isBelow } from '../base/below.ts'
import { quoted } from '../base/shell-quote.ts'
import { now } from '../base/time.ts'
import { AppError, type Problem } from '../model/errors.ts'
import type { RefChange } from '../model/git.ts'
import { branchRef, pinRef } from '../model/refs.ts'
import type { Place, Repo } from '../model/repo.ts'
import type { Pending, Task } from '../model/task.ts'
import { trashFolderOf, trashParts } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'
import type { IsolationKind } from '../ports/isolation.ts'
import { append } from '../tasks/records.ts'
import { mainRoot } from '../tasks/repo.ts'
import { dropTaken } from './slot.ts'

function startMessage(uid: string): string {
  return `offshoot: start ${uid}`
}

/** Throws unless workspaces may be made in `base`; answers its real path. */
export async function requireBase(ports: Pick<Ports, 'files'>, base: string, place: Place): Promise<string> {
  const real = await ports.files.readRealPath(base)
  if (isInRepo(place, base) && real !== base) {
    throw new AppError('outsideBase', `${base} is a symlink to ${real}, outside the repository.`, {
      path: base,
      hint: 'Name the real folder in workspace.base.',
    })
  }
  if (!(await canBeFolder(ports, real))) {
    throw new AppError('pathExists', `${base} is not a folder.`, {
      path: base,
      hint: 'Change workspace.base.',
    })
  }
  if (isBelow(real, place.commonDir)) {
    throw new AppError('pathExists', `${base} belongs to git.`, {
      path: base,
      hint: 'Change workspace.base.',
    })
  }
  if (isRoot(place, real) || (isInRepo(place, real) && (await isUsed(ports, real)))) {
    throw new AppError('pathExists', `${base} holds other things than workspaces.`, {
      path: base,
      hint: 'Name a folder of its own in workspace.base.',
    })
  }
  return real
}

/** Whether the path is a folder, or could be made one because its nearest existing parent is. */
async function canBeFolder(ports: Pick<Ports, 'files'>, wanted: string): Promise<boolean> {
  for (let folder = wanted; ; folder = path.dirname(folder)) {
    const kind = await ports.files.readKind(folder)
    if (kind !== undefined || folder === path.dirname(folder)) return kind === 'folder'
  }
}

/** Whether the folder holds files of the user. Its `.gitignore` of ours would hide them from git. */
async function isUsed(ports: Pick<Ports, 'files'>, base: string): Promise<boolean> {
  const ignored = await ports.files.readText(path.join(base, '.gitignore'))
  if (ignored !== undefined) return !ignored.split('\n').includes('*')
  return (await ports.files.readNames(base)).some((name) => !name.startsWith('.'))
}

function isRoot(place: Place, folder: string): boolean {
  return folder === place.checkout || folder === mainRoot(place)
}

function isInRepo(place: Place, file: string): boolean {
  return [place.checkout, mainRoot(place)].some((root) => root !== null && file.startsWith(root + path.sep))
}

/** Creates the pin that keeps the base from `git gc`, and the branch unless it is adopted: one change, pin first. */
export async function makeRefs(work: Work): Promise<void> {
  const { ports, repo, task, signal } = work
  const branch = { ref: branchRef(task.branch), new: task.base.commit }
  const pin = { ref: pinRef(task.uid), new: task.base.commit }
  // The branch of a clone is in the clone only, until it is published.
  const isClone = task.isolation === 'clone'
  const made = task.adopted || isClone ? [pin] : [pin, branch]
  const inUse = isClone && (await ports.refs.findRivals(repo.place, task.branch)).length > 0
  try {
    if (!inUse && (await ports.refs.createRefs(repo.place, made, startMessage(task.uid), signal))) return
  } catch (error) {
    const rivals = await ports.refs.findRivals(repo.place, task.branch)
    // A git that was killed may have made our branch before: that one is no rival.
    if (rivals.length === 0 || (await isOwnBranch(work))) throw error
  }
  const [rival = task.branch] = await ports.refs.findRivals(repo.place, task.branch)
  throw branchTaken(task.branch, rival)
}

export function branchTaken(branch: string, rival: string): AppError {
  const message = `The branch ${branch} cannot be made: there is a branch ${rival}.`
  const hint =
    rival === branch
      ? `Choose another branch with --branch NAME, or go on with that one: --existing-branch ${quoted(branch)}`
      : 'Choose another branch with --branch NAME.'
  return new AppError('branchInUse', message, { hint, data: { branch: rival } })
}

/** Makes the folder of the workspace, its registration and its files. */
export async function makeFolder({ ports, repo, task, signal, watch }: Work): Promise<void> {
  await makeBase(ports, repo, task.path)
  await isolationOf(ports, task).make(repo, task, signal, watch?.onProgress)
}

/** Makes the parent folder of a workspace. */
export async function makeBase(ports: Pick<Ports, 'files'>, repo: Repo, made: string): Promise<void> {
  const base = path.dirname(made)
  await ports.files.makeFolder(base, 0o700)
  if (isInRepo(repo.place, base)) await hideFromGit(ports, base)
}

export function isolationOf(ports: Pick<Ports, 'isolations'>, task: Task): IsolationKind {
  if (task.isolation !== 'branch') return ports.isolations[task.isolation]
  throw new AppError('failed', `${task.id} works in the checkout ${task.path}: it has no folder of its own.`)
}

/** Writes a `.gitignore` into a base folder inside the repository, so that `git status` stays as it was. */
async function hideFromGit(ports: Pick<Ports, 'files'>, base: string): Promise<void> {
  const file = path.join(base, '.gitignore')
  if ((await ports.files.readKind(file)) === undefined) await ports.files.write(file, '*\n')
}

/**
 * A free path in the trash. The trash is beside the workspaces, because a rename must not cross file systems. `given` are
 * paths that were answered before and do not exist yet.
 */
export async function freeTrash(
  ports: Pick<Ports, 'files'>,
  workspace: string,
  given: Set<string> = new Set(),
): Promise<string> {
  for (let n = 1; ; n++) {
    const place = trashFolderOf(workspace, n)
    // Asks for each name instead of listing the trash, which may hold thousands.
    if (given.has(place) || (await ports.files.readKind(place)) !== undefined) continue
    given.add(place)
    return place
  }
}

/** Renames folder and registration into the trash; skips one that does not exist (docs/adr/0012-nothing-is-deleted.md). */
export async function trashFolder({ ports, repo, task }: Work, trash: string): Promise<void> {
  // The task works in the user's own checkout, which stays.
  if (task.shadow) return
  if ((await ports.files.readKind(task.path)) !== undefined) {
    await ports.files.makeFolder(trash, 0o700)
    await ports.files.rename(task.path, trashParts(trash).workspace)
  }
  await isolationOf(ports, task).detach(repo, task, trashParts(trash).registration)
}

/** Takes back the folder, the branch and the pin that an unfinished start has made, and nothing else. */
export async function undoStart(
  work: Work,
  why: { readonly message: string; readonly problem?: Problem; readonly path?: string | undefined },
): Promise<void> {
  const { ports, repo, task } = work
  if (!(await isUnderWay(ports, task, 'start'))) return
  const { place } = repo
  const { refs } = ports
  const branch = branchRef(task.branch)
  // Somebody made a folder at that path after our check: it is not ours to move.
  const foreign = why.problem === 'pathExists' && why.path === task.path
  const trash = foreign ? undefined : await freeTrash(ports, task.path)
  if (trash !== undefined) await trashFolder(work, trash)
  await dropTaken(ports, task)
  const made = task.adopted ? [pinRef(task.uid)] : [pinRef(task.uid), branch]
  await refs.clearRefLocks(place, made, task.createdAt)
  const changes: RefChange[] = []
  if (!task.adopted && (await isOwnBranch(work))) {
    const tip = await refs.findRef(place, branch)
    if (tip === task.base.commit) changes.push({ ref: branch, old: tip, new: null })
  }
  const pin = await refs.findRef(place, pinRef(task.uid))
  if (pin !== undefined) changes.push({ ref: pinRef(task.uid), old: pin, new: null })
  if (changes.length > 0) await refs.changeRefs(place, changes, `offshoot: undo start ${task.uid}`)
  const undone = { type: 'start.undone', reason: why.message, trash } as const
  await append(ports, task.uid, undone, now(ports))
}

/** Whether this start made the branch, by its reflog: a user may have made a branch of that name in the meantime. */
async function isOwnBranch({ ports, repo, task }: Work): Promise<boolean> {
  return (await ports.refs.findReflogMessage(repo.place, branchRef(task.branch))) === startMessage(task.uid)
}

/** Moves the folder of an unfinished recreation into the trash; the next start tries again. */
export async function undoRecreate(work: Work, reason: string): Promise<void> {
  const { ports, task } = work
  if (!(await isUnderWay(ports, task, 'recreate'))) return
  await trashFolder(work, await freeTrash(ports, task.path))
  await append(ports, task.uid, { type: 'recreate.undone', reason }, now(ports))
}

/** Whether the record still has the verb pending. An append can fail after it was written; then the verb is done. */
async function isUnderWay(ports: Pick<Ports, 'store'>, task: Task, verb: Pending['verb']): Promise<boolean> {
  return (await ports.store.findTaskByUid(task.uid))?.pending?.verb === verb
}
