/** Gathers the state of the records, the folders, git and the vault, for judge.ts to compare. Changes nothing. */
import type { Work } from '../tasks/work.ts'
import path from 'node:path'
import { eachOf } from '../base/concurrency.ts'
import { appError, isDamage } from '../model/errors.ts'
import type { GitLock, OtherFolder, Registration } from '../model/git.ts'
import type { Repo, RepoRecord } from '../model/repo.ts'
import type { VaultLook } from '../model/step.ts'
import { isOpen, type Task } from '../model/task.ts'
import { branchRefs, ownRefs, uidOfPin } from '../model/refs.ts'
import { workspacesFolder } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'
import { readKnown } from '../tasks/known.ts'
import { isUnderWay } from '../tasks/liveness.ts'
import { repoAt } from '../tasks/repo.ts'
import { isolationOf } from '../workspaces/make.ts'
import { otherBranch } from '../workspaces/on-branch.ts'
import { findOther } from '../workspaces/moved.ts'

export interface World {
  readonly repos: readonly SeenRepo[]
  readonly tasks: readonly SeenTask[]
  /** The repositories, workspaces and vaults that could not be read. */
  readonly failed: readonly Unread[]
  /** Vaults whose repository has no record, or that name no repository, with the number of tasks in each. */
  readonly unknown: readonly {
    readonly name: string
    readonly repo: RepoRecord | undefined
    readonly tasks: number
  }[]
  /** Folders beside the workspaces that belong to no open task. */
  readonly strays: readonly UnknownFolder[]
  readonly now: Date
}

export interface UnknownFolder {
  readonly folder: string
  /** The id of the repository whose workspaces it lies among. */
  readonly repo: string
  /** The closed task whose workspace was there. */
  readonly task?: Task | undefined
}

interface Unread {
  readonly what: string
  readonly why: string
  /** The advice, when it is more than "make it readable". */
  readonly hint?: string | undefined
}

export interface SeenRepo {
  readonly record: RepoRecord
  /** The git folder exists at the path in the record. */
  readonly isThere: boolean
  readonly vault: VaultLook
  readonly registrations: readonly Registration[]
  /** All refs of offshoot, and the branches. */
  readonly refs: ReadonlyMap<string, string>
  readonly locks: readonly GitLock[]
  /** The records of tasks that pins, worktrees or the vault name, by uid; closed and hidden ones included. */
  readonly known: ReadonlyMap<string, Task>
  /** The ids of tasks with steps in the vault and no record, by uid. */
  readonly lost: ReadonlyMap<string, string>
}

/** An open task, or one in the middle of a verb. */
export interface SeenTask {
  readonly task: Task
  readonly folder: 'there' | 'gone'
  /** The folder that the user has moved the workspace to. */
  readonly moved?: OtherFolder | undefined
  /** The damage of its git; for a shadow branch, that the checkout is on another branch. */
  readonly fault: string | undefined
  /** The branch that its worktree is on, if that is not the task's. */
  readonly otherBranch?: string | undefined
  /** The process in the middle of a verb on it still runs. */
  readonly isBusy: boolean
}

export interface ScanOptions {
  /** The repositories to scan, by id; left out: all. */
  readonly repos?: ReadonlySet<string> | undefined
  /** Also checks that the vaults have every object of the steps, which takes longer. */
  readonly deep?: boolean | undefined
}

/** A repository that cannot be read completely goes to `failed` and is not judged: half of its state proves nothing. */
export async function scan(
  ports: Ports,
  { repos: only, deep = false }: ScanOptions,
  signal?: AbortSignal,
): Promise<World> {
  const [repos, tasks]: [SeenRepo[], SeenTask[]] = [[], []]
  const failed: Unread[] = []
  const records = (await ports.repos.readAll()).filter(({ id }) => only?.has(id) ?? true)
  for (const record of records) {
    signal?.throwIfAborted()
    try {
      const repo = await repoAt(ports, record)
      const seen = await lookAtRepo(ports, repo, deep, signal)
      const found = await lookAtTasks(ports, repo, seen.isThere, signal)
      repos.push(seen)
      tasks.push(...found)
    } catch (thrown) {
      failed.push(unreadOf(`repository ${record.name}`, thrown))
    }
  }
  const strays: UnknownFolder[] = []
  for (const { record } of repos) {
    const failing = (thrown: unknown) => void failed.push(unreadOf(`workspaces of ${record.name}`, thrown))
    await findStrays(ports, record).then((found) => strays.push(...found), failing)
  }
  const found = only ? { unknown: [], failed: [] } : await findUnknown(ports)
  failed.push(...found.failed)
  return { repos, tasks, failed, unknown: found.unknown, strays, now: ports.clock.now() }
}

function unreadOf(what: string, thrown: unknown): Unread {
  const error = appError(thrown)
  if (error.kind === 'cancelled') throw thrown
  return { what, why: error.message, ...(isDamage(error) && { hint: error.hint }) }
}

async function lookAtTasks(
  ports: Ports,
  repo: Repo,
  isThere: boolean,
  signal?: AbortSignal,
): Promise<SeenTask[]> {
  const own = (await ports.store.readTasks({ repo: repo.id })).filter((task) => isOpen(task) || task.pending)
  const found: SeenTask[] = []
  const worktrees = isThere && own.length > 0 ? await ports.git.readWorktrees(repo.place) : []
  await eachOf(own.entries(), 16, async ([n, task]) => {
    const seen = await lookAtTask({ ports, repo, task, signal }, isThere)
    found[n] = { ...seen, otherBranch: otherBranch(task, worktrees) }
  })
  return found
}

async function lookAtRepo(ports: Ports, repo: Repo, deep: boolean, signal?: AbortSignal): Promise<SeenRepo> {
  const { place, ...record } = repo
  const vault = await ports.care.inspect(repo, deep, signal)
  const inVault = await readKnown(ports.store, vault.tips.keys())
  const orphans = Array.from(vault.tips, ([uid, isThere]) => (isThere ? uid : '')).filter(
    (uid) => uid !== '' && !inVault.has(uid),
  )
  const lost = await ports.care.readIds(repo, orphans, signal)
  if ((await ports.files.readKind(repo.commonDir)) !== 'folder') {
    const nothing = {
      registrations: [],
      refs: new Map(),
      locks: [],
      known: inVault,
    }
    return { record, isThere: false, vault, lost, ...nothing }
  }
  const [registrations, refs, locks] = await Promise.all([
    ports.git.readRegistrations(place),
    ports.refs.readRefs(place, [ownRefs, branchRefs], signal),
    ports.refs.readLocks(place),
  ])
  const pinned = [...refs.keys()].flatMap((ref) => uidOfPin(ref) ?? [])
  const marked = registrations.flatMap(({ uid }) => uid ?? [])
  const known = await readKnown(ports.store, [...pinned, ...marked, ...vault.tips.keys()])
  return { record, isThere: true, vault, registrations, refs, locks, known, lost }
}

async function lookAtTask(work: Work, isThere: boolean): Promise<SeenTask> {
  const { ports, task } = work
  const isBusy = await isUnderWay(ports, task)
  const kind = await ports.files.readKind(task.path)
  const folder = kind === 'folder' && (await ports.files.readNames(task.path)).length > 0 ? 'there' : 'gone'
  const seen = { task, folder, fault: undefined, isBusy } as const
  if (!isThere || !isOpen(task) || task.pending) return seen
  const other = await findOther(work)
  if (other?.isMoved) return { ...seen, moved: other }
  if (folder === 'gone') return seen
  return { ...seen, fault: await findFault(work) }
}

/** In the user's own checkout only its branch matters; its git is the user's own. */
async function findFault({ ports, repo, task, signal }: Work): Promise<string | undefined> {
  if (!task.shadow) return isolationOf(ports, task).findFault(repo, task, signal)
  const branch = await ports.git.readHeadBranch({ ...repo.place, gitDir: task.shadow.gitDir })
  return branch === task.branch
    ? undefined
    : `the checkout ${task.path} that it works in is on ${branch ?? 'no branch'}, not on ${task.branch}`
}

async function findUnknown(ports: Pick<Ports, 'care' | 'repos'>): Promise<Pick<World, 'unknown' | 'failed'>> {
  const [unknown, failed]: [World['unknown'][number][], Unread[]] = [[], []]
  const names = new Set((await ports.repos.readAll()).map(({ name }) => name))
  const vaults = await ports.care.readVaults().catch((thrown: unknown) => {
    failed.push(unreadOf('vaults', thrown))
    return []
  })
  for (const { name, repo, why } of vaults) {
    if (repo ? await ports.repos.findById(repo.id) : names.has(name)) continue
    const failing = (thrown: unknown) => void failed.push(unreadOf(`vault ${name}`, thrown))
    if (why !== undefined) failed.push({ what: `vault ${name}`, why })
    else
      await ports.care
        .readUids(name)
        .then((uids) => unknown.push({ name, repo, tasks: uids.length }), failing)
  }
  return { unknown, failed }
}

/** Searches only the state folder: in a `workspace.base` of the user, other folders may lie beside ours. */
async function findStrays(
  ports: Pick<Ports, 'files' | 'home' | 'store'>,
  { id: repo, name }: RepoRecord,
): Promise<UnknownFolder[]> {
  const base = workspacesFolder(ports.home, name)
  const folders = (await ports.files.readNames(base)).filter((folder) => !folder.startsWith('.'))
  const strays: UnknownFolder[] = []
  for (const name of folders) {
    const folder = path.join(base, name)
    const task = await ports.store.findTaskByPath(folder)
    if (!task || (!isOpen(task) && !task.pending)) strays.push({ folder, repo, task })
  }
  return strays
}
