/** Finds, registers and recognizes the user's repositories. */
import path from 'node:path'
import { now } from '../base/time.ts'
import { AppError } from '../model/errors.ts'
import { repoName } from '../model/names.ts'
import { markRef } from '../model/refs.ts'
import { checkoutRoot, type Place, type Repo, repoLock, type RepoRecord, repoRoot } from '../model/repo.ts'
import { isInTrash } from '../model/layout.ts'
import { isOpen, type Task } from '../model/task.ts'
import type { Ports, Records } from '../ports/index.ts'
import type { Notes } from '../ports/store.ts'

/** The repository that `dir` is in, if offshoot has worked in it before. Starts no process. */
export async function findRepo(
  records: Records,
  dir: string,
): Promise<{ place: Place; repo: Repo | undefined }> {
  const place = await locate(records, dir)
  const record = await records.repos.findAt(place.commonDir)
  return { place, repo: record && { ...record, place } }
}

/**
 * Inside a workspace the user's repository is meant, whatever `.git` there says: an agent may have changed it. If an agent
 * damaged the repository so much that git does not recognize it, the record still tells where it is.
 */
async function locate(records: Records, dir: string): Promise<Place> {
  const place = await records.locate(dir).catch((error: unknown) => error)
  const found = isPlace(place) ? place : undefined
  for (const folder of foldersAround(dir, found?.checkout)) {
    const task = await findTaskIn(records, folder)
    const record = task
      ? await records.repos.findById(task.repo)
      : await records.repos.findAt(path.join(folder, '.git'))
    if (!record || record.commonDir === found?.commonDir) continue
    return { commonDir: record.commonDir, gitDir: record.commonDir, checkout: folder }
  }
  const closed = await findTrashed(records, dir)
  // The folder of a closed task, in which a shell may still stand: its checkout is meant.
  if (closed) return records.locate(closed.origin)
  if (found) return found
  throw place
}

/** The task whose workspace the folder is. A task on a shadow branch has given the user's checkout back when it is closed. */
export async function findTaskIn(
  { store }: Pick<Records, 'store'>,
  folder: string,
): Promise<Task | undefined> {
  const task = await store.findTaskByPath(folder)
  return task?.shadow && !isOpen(task) ? undefined : task
}

/** The closed task whose workspace, now in the trash, `dir` is in. */
async function findTrashed({ store }: Records, dir: string): Promise<Task | undefined> {
  const trash = foldersAround(dir, undefined).find(isInTrash)
  if (trash === undefined) return undefined
  return (await store.readTasks({ open: false })).find((task) => task.trash === trash)
}

/** The checkout whose settings count: in a workspace, which an agent can write, the one that its task was started from. */
export async function settingsCheckout({ store }: Pick<Records, 'store'>, checkout: string): Promise<string> {
  const seen = new Set<string>()
  for (let folder = checkout; !seen.has(folder); ) {
    seen.add(folder)
    const task = await store.findTaskByPath(folder)
    if (!task || task.shadow) return folder
    // A task can be started in the workspace of another one.
    folder = task.origin
  }
  return checkout
}

/** The record of the repository that `dir` is in, by its mark: another one at the same path is not it. */
export async function recognize(ports: Ports, dir: string): Promise<RepoRecord | undefined> {
  const { place, repo } = await findRepo(ports, dir)
  if (repo) return (await ports.refs.findRef(place, markRef)) === repo.mark ? repo : undefined
  const mark = await ports.git.findRepoMark(place)
  const moved = mark && (await ports.repos.findById(mark.id))
  return moved && !(await isElsewhere(ports, moved, mark.blob)) ? moved : undefined
}

/** Whether a command without the name of a task means the one whose workspace `dir` is in. */
export async function isInWorkspace(records: Records, dir: string): Promise<boolean> {
  const checkout = (await findRepo(records, dir).catch(() => undefined))?.place.checkout
  const task = checkout ? await findTaskIn(records, checkout) : undefined
  // In the user's own checkout the command means the whole repository, even if a task works there.
  return task !== undefined && !task.shadow
}

function isPlace(found: unknown): found is Place {
  return typeof found === 'object' && found !== null && 'commonDir' in found
}

/** The folder and its parents, up to and including `last`. */
function foldersAround(dir: string, last: string | null | undefined): string[] {
  const folders = [path.resolve(dir)]
  for (let folder = folders[0] ?? ''; folder !== last && folder !== path.dirname(folder); ) {
    folder = path.dirname(folder)
    folders.push(folder)
  }
  return folders
}

/** The repository of a record, even if it is gone. */
export async function repoAt(ports: Pick<Ports, 'locate'>, record: RepoRecord): Promise<Repo> {
  const { commonDir } = record
  const gone = { commonDir, gitDir: commonDir, checkout: null }
  return { ...record, place: await ports.locate(commonDir).catch(() => gone) }
}

/** The folder of a repository that was moved: where its record still says it is. Starts no process. */
export async function findOldPlace(records: Records, place: Place): Promise<string | undefined> {
  const mark = await records.findMark(place)
  const known =
    mark === undefined ? undefined : (await records.repos.readAll()).find((repo) => repo.mark === mark)
  if (!known || known.commonDir === place.commonDir) return undefined
  const old = { commonDir: known.commonDir, gitDir: known.commonDir, checkout: null }
  // A repository that is still there was copied, and has its tasks to itself.
  return (await records.findMark(old)) === mark ? undefined : repoRoot(known.commonDir)
}

export const movedHint = 'offshoot repair records the new place, and its tasks are there again.'

/** Whether the git folder is missing: deleted, moved, or on a disk that is not mounted. */
export async function isGone({ files }: Pick<Ports, 'files'>, { commonDir }: RepoRecord): Promise<boolean> {
  return (await files.readKind(commonDir)) === undefined
}

/** The repository that `dir` is in; a new one is registered, a moved one is recognized by its mark. */
export async function requireRepo(ports: Ports, dir: string, signal?: AbortSignal): Promise<Repo> {
  await ports.git.requireVersion(signal)
  const place = await locate(ports, dir)
  await requireSupported(ports, place)
  const known = await ports.repos.findAt(place.commonDir)
  const isSame = known && (await ports.refs.findRef(place, markRef, signal)) === known.mark
  const repo = isSame
    ? { ...known, place }
    : await ports.locks.hold(repoLock(place), { verb: 'take in', signal }, () =>
        register(ports, place, signal),
      )
  if (await isForgotten(ports.notes, repo.id)) await ports.notes.put(forgottenNote(repo.id), '')
  return repo
}

/** The key of the note with the time since when a repository is not listed; empty: it is listed again. */
export function forgottenNote(id: string): string {
  return `forgotten ${id}`
}

export async function isForgotten(notes: Notes, id: string): Promise<boolean> {
  return Boolean(await notes.find(forgottenNote(id)))
}

/** The key of the note with what the user trusts in a repository. */
export function trustNote(id: string): string {
  return `trust ${id}`
}

async function register(ports: Ports, place: Place, signal?: AbortSignal): Promise<Repo> {
  const known = await ports.repos.findAt(place.commonDir)
  const mark = await ports.git.findRepoMark(place, signal)
  // It may be another repository at the same path, which nobody has trusted.
  if (known && !mark) await ports.notes.put(trustNote(known.id), '')
  const marked = mark && (await ports.repos.findById(mark.id))
  if (known && (!mark || mark.id === known.id)) return record(ports, place, known.id, known.name, signal)
  if (mark && marked && !(await isElsewhere(ports, marked, mark.blob))) {
    return record(ports, place, mark.id, marked.name, signal)
  }
  if (!mark || marked) {
    const id = ports.ids.uid()
    return record(ports, place, id, repoName(place.commonDir, id), signal)
  }
  const name = (await findVaultName(ports, mark.id)) ?? repoName(place.commonDir, mark.id)
  return record(ports, place, mark.id, name, signal)
}

/** The name of the vault that belongs to a repository whose record is lost, even if its folder has another name now. */
async function findVaultName({ care }: Pick<Ports, 'care'>, id: string): Promise<string | undefined> {
  return (await care.readVaults()).find(({ repo }) => repo?.id === id)?.name
}

/** Whether the marked repository still exists at its old path. Then this one is a copy, which needs its own id. */
async function isElsewhere(
  ports: Pick<Ports, 'files' | 'refs'>,
  marked: RepoRecord,
  blob: string,
): Promise<boolean> {
  const place = { commonDir: marked.commonDir, gitDir: marked.commonDir, checkout: null }
  if ((await ports.files.readKind(marked.commonDir)) !== 'folder') return false
  return (await ports.refs.findRef(place, markRef)) === blob
}

async function record(
  ports: Ports,
  place: Place,
  id: string,
  name: string,
  signal?: AbortSignal,
): Promise<Repo> {
  const { git, refs, repos } = ports
  const mark = await git.writeRepoMark(place, id, signal)
  const addedAt = (await repos.findById(id))?.addedAt ?? now(ports)
  const repo: RepoRecord = { id, name, commonDir: place.commonDir, mark, addedAt }
  // The record comes before the mark, because recovery clears locks of the mark only in recorded repositories.
  await repos.put(repo)
  // Only offshoot writes that ref, and we hold the repository's lock, so a lock file is of a dead process.
  await refs.clearRefLocks(place, [markRef])
  await refs.clearBrokenRef(place, markRef)
  const old = (await refs.findRef(place, markRef, signal)) ?? null
  const change = { ref: markRef, old, new: mark }
  if (old === mark || (await refs.changeRefs(place, [change], 'offshoot: know this repository', signal)))
    return { ...repo, place }
  throw new AppError('locked', 'Another process is taking this repository in.', { path: place.commonDir })
}

/** Throws for a repository with reftable refs, which offshoot cannot write yet. */
async function requireSupported(ports: Pick<Ports, 'files'>, place: Place): Promise<void> {
  const config = (await ports.files.readText(path.join(place.commonDir, 'config'))) ?? ''
  const storage = /^\s*refstorage\s*=\s*"?(\w+)/im.exec(config)?.[1]
  if (storage === undefined || storage === 'files') return
  throw new AppError(
    'gitUnusable',
    `This repository keeps its refs as ${storage}, which offshoot does not support yet.`,
    {
      path: place.commonDir,
      hint: 'git refs migrate --ref-format=files changes that.',
    },
  )
}

/** The folder that relative settings refer to: the main checkout, so that no workspace is made inside another. */
export function mainRoot(place: Place): string {
  return place.gitDir === place.commonDir ? checkoutRoot(place) : repoRoot(place.commonDir)
}
