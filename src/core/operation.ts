/**
 * One undoable act: files of a checkout, its index, refs, a workspace and the task's record, changed together. It is
 * written down whole before anything is touched. Until everything new is staged it can only be taken back, from then
 * on it can only be finished: a kill at any instant leaves all of it or nothing.
 */
import path from 'node:path'
import type { BytePath } from './bytes.ts'
import { toText } from './bytes.ts'
import { catchUp, publishSteps, takeStep } from './checkpoint.ts'
import { AppError, appError } from './errors.ts'
import type { Conflict, Found, Leaf, Ports, RefChange, Repo, StepNote } from './ports.ts'
import type { Task, TaskPatch } from './task.ts'
import { isolationOf } from './workspace.ts'

export interface FileMove {
  readonly path: BytePath
  readonly from: Leaf | null
  readonly to: Leaf | null
}

/** The folder of a task, into the trash or back. */
interface WorkspaceMove {
  readonly to: 'trash' | 'back'
  readonly trash: string
}

/** The files of the workspace become those of a tree, and that is one more step. */
export interface StepMove {
  /** The last step before it. */
  readonly before: number
  readonly tree: string
  readonly note: StepNote
}

export interface Operation {
  readonly id: string
  readonly verb: 'accept' | 'reject' | 'remove' | 'delete' | 'rewind' | 'update' | 'undo'
  readonly task: string
  readonly at: string
  /** What this one undid. */
  readonly undoes?: string | undefined
  readonly files?: { readonly checkout: string; readonly moves: readonly FileMove[] } | undefined
  /** Entries of that checkout's index. */
  readonly index?: { readonly gitDir: string; readonly moves: readonly FileMove[] } | undefined
  readonly refs: readonly RefChange[]
  readonly workspace?: WorkspaceMove | undefined
  readonly step?: StepMove | undefined
  readonly record: { readonly from: TaskPatch; readonly to: TaskPatch }
  /** Why it cannot be undone. */
  readonly final?: string | undefined
}

/** Carries an operation out. Whoever calls holds the task's lock. */
export async function perform(ports: Ports, repo: Repo, task: Task, operation: Operation): Promise<Task> {
  const { contents, store } = ports
  const now = () => ports.clock.now().toISOString()
  await contents.keep(repo, operation.id, operation, await treesOf(ports, repo, operation))
  const { id, verb, undoes } = operation
  store.append(task.uid, { type: 'operation.begun', id, verb, undoes, owner: ports.processes.self() }, now())
  try {
    await stage(ports, repo, operation)
    await requireUnchanged(ports, repo, operation)
    store.append(task.uid, { type: 'operation.staged', id }, now())
    await moveRefs(ports, repo, operation)
  } catch (error) {
    const taken = async () => {
      if (!(await lookAtRefs(ports, repo, operation)).begun)
        await takeBack(ports, repo, task, operation, appError(error).message)
    }
    await taken().catch(() => {})
    throw error
  }
  const done = await finish(ports, repo, task, operation)
  if (!done) throw overtaken(operation.refs)
  return done
}

/** The contents that it needs, reachable from what is kept of it. */
async function treesOf(
  ports: Ports,
  repo: Repo,
  { files, step }: Operation,
): Promise<Record<string, string>> {
  if (step) return { step: step.tree }
  if (!files) return {}
  const empty = await ports.contents.change(repo, null, new Map())
  const tree = (side: 'from' | 'to') =>
    ports.contents.change(repo, empty, new Map(files.moves.map((move) => [move.path, move[side]])))
  return { before: await tree('from'), after: await tree('to') }
}

/** Beside the checkout's git, on the same file system as the checkout. */
function stagingFolder(repo: Repo, operation: Operation): string {
  const gitDir = operation.index?.gitDir ?? repo.place.gitDir
  return path.join(gitDir, `offshoot-${operation.id}`)
}

function stagedFile(staging: string, index: number): string {
  return path.join(staging, String(index))
}

/** All that is new is on the disk before any of it takes its place: a full disk is noticed here. */
async function stage(ports: Ports, repo: Repo, operation: Operation): Promise<void> {
  if (!operation.files) return
  const staging = stagingFolder(repo, operation)
  await ports.files.makeFolder(staging, 0o700)
  if (operation.index) await ports.checkouts.lockIndex(operation.index.gitDir, staging)
  for (const [index, { to }] of operation.files.moves.entries()) {
    if (to && to.mode !== '160000') await ports.contents.exportFile(repo, to, stagedFile(staging, index))
  }
}

/** What the user did since the plan was made must not be overwritten by it. */
async function requireUnchanged(ports: Ports, repo: Repo, { files }: Operation): Promise<void> {
  if (!files) return
  const now = await ports.contents.take(
    repo,
    files.checkout,
    files.moves.map((move) => move.path),
  )
  const conflicts = files.moves.filter(({ path: file, from }) => !isStill(now.get(file), from))
  if (conflicts.length > 0)
    throw conflictError(conflicts.map(({ path: file }) => ({ path: toText(file), kind: 'changed' })))
}

/** Nothing, or a folder whose files make room: that was looked at when the plan was made. */
function isStill(found: Found | undefined, leaf: Leaf | null): boolean {
  if (leaf === null) return found?.kind !== 'file' && found?.kind !== 'special'
  // An empty folder stands for a submodule that was never fetched.
  if (leaf.mode === '160000') return true
  return found?.kind === 'file' && found.leaf.oid === leaf.oid && found.leaf.mode === leaf.mode
}

export function conflictError(conflicts: readonly Conflict[]): AppError {
  const named = conflicts.slice(0, 5).map(({ path: file, kind }) => `${file} (${kind})`)
  const more = conflicts.length > 5 ? ` and ${conflicts.length - 5} more` : ''
  return new AppError('WT_011', `Conflict in ${named.join(', ')}${more}. Nothing was written.`, {
    hint: 'offshoot update brings the target into the workspace, to be solved there; --conflicts markers writes them here.',
    data: { conflicts },
  })
}

/** Before anything of the user's was touched: only what we staged goes. */
export async function takeBack(
  ports: Ports,
  repo: Repo,
  task: Task,
  operation: Operation,
  reason: string,
): Promise<void> {
  const { id } = operation
  const staging = stagingFolder(repo, operation)
  const now = () => ports.clock.now().toISOString()
  const pending = ports.store.findTaskByUid(task.uid)?.pending
  // Should the last append fail, nobody may try to finish it without what was staged.
  if (pending?.verb === 'operation' && pending.staged)
    ports.store.append(task.uid, { type: 'operation.unstaged', id }, now())
  if (operation.index) await ports.checkouts.unlockIndex(operation.index.gitDir, staging)
  if ((await ports.files.readKind(staging)) !== undefined) await ports.files.remove(staging)
  ports.store.append(task.uid, { type: 'operation.undone', id, reason }, now())
}

/**
 * From wherever it stopped to the end; recovery calls this too. Each part does nothing where it is done already. The refs
 * go first: they alone may be refused, as somebody else has moved them. Then nothing else has been touched, and the
 * operation is taken back, which answers undefined.
 */
export async function finish(
  ports: Ports,
  repo: Repo,
  task: Task,
  operation: Operation,
): Promise<Task | undefined> {
  const staging = stagingFolder(repo, operation)
  const { moved, begun } = await lookAtRefs(ports, repo, operation)
  if (moved.length > 0 && !begun) {
    await takeBack(ports, repo, task, operation, overtaken(moved).message)
    return undefined
  }
  await moveRefs(ports, repo, operation)
  const left = await placeFiles(ports, repo, operation, staging)
  if (operation.index)
    await ports.checkouts.changeIndex(operation.index.gitDir, operation.index.moves, staging)
  if (operation.workspace) await moveWorkspace(ports, repo, task, operation.workspace)
  if (operation.step) await moveStep(ports, repo, task, operation.step)
  if ((await ports.files.readKind(staging)) !== undefined) await ports.files.remove(staging)
  const at = ports.clock.now().toISOString()
  const done = ports.store.append(
    task.uid,
    { type: 'operation.done', id: operation.id, patch: operation.record.to, left },
    at,
  )
  return operation.step ? publishSteps(ports, repo, done) : done
}

async function moveStep(ports: Ports, repo: Repo, task: Task, { before, tree, note }: StepMove) {
  const now = await catchUp(ports, repo, task)
  const last = await ports.vault.findTip(repo, task)
  if (!last || last.n > before) return
  // A restore that stopped half-way left some files old and some new: every one of them is written again.
  await ports.vault.restore(repo, task, last, { ...last, tree })
  await takeStep(ports, repo, now, note)
}

/** Deletions first: a file may have to make room for a folder. Answers the paths that somebody changed meanwhile. */
async function placeFiles(
  ports: Ports,
  repo: Repo,
  { files }: Operation,
  staging: string,
): Promise<string[]> {
  if (!files) return []
  const { checkout, moves } = files
  const now = await ports.contents.take(
    repo,
    checkout,
    moves.map((move) => move.path),
  )
  const left: string[] = []
  const order = [...moves.entries()].sort(([, a], [, b]) => Number(a.to !== null) - Number(b.to !== null))
  const folders = new Set<string>()
  for (const [index, { path: file, from, to }] of order) {
    const found = now.get(file)
    if (isStill(found, to)) continue
    // Both versions are in the vault; the user's own stays where it is.
    if (!isStill(found, from)) left.push(toText(file))
    else if (to) {
      const staged = await stageAgain(ports, repo, to, stagedFile(staging, index))
      folders.add(await ports.checkouts.place(staged, checkout, file, to.mode))
    } else folders.add(await ports.checkouts.take(checkout, file))
  }
  await ports.files.syncFolders(await stillThere(ports, folders))
  return left
}

/** Whoever tidied up after a crash may have thrown away what was staged; the vault has it all. */
async function stageAgain(ports: Ports, repo: Repo, leaf: Leaf, staged: string): Promise<string> {
  if (leaf.mode === '160000' || (await ports.files.readKind(staged)) !== undefined) return staged
  await ports.files.makeFolder(path.dirname(staged), 0o700)
  await ports.contents.exportFile(repo, leaf, staged)
  return staged
}

/** A folder that went with its last file is made durable in the one that held it. */
async function stillThere(ports: Ports, folders: Iterable<string>): Promise<string[]> {
  const there = new Set<string>()
  for (let folder of folders) {
    while ((await ports.files.readKind(folder)) !== 'folder') folder = path.dirname(folder)
    there.add(folder)
  }
  return [...there]
}

async function moveWorkspace(ports: Ports, repo: Repo, task: Task, move: WorkspaceMove): Promise<void> {
  const folder = path.join(move.trash, 'workspace')
  const registration = path.join(move.trash, 'registration')
  const isolation = isolationOf(ports, task)
  const [from, to] = move.to === 'trash' ? [task.path, folder] : [folder, task.path]
  if ((await ports.files.readKind(from)) !== undefined && (await ports.files.readKind(to)) === undefined) {
    await ports.files.makeFolder(path.dirname(to), 0o700)
    await ports.files.rename(from, to)
  }
  if (move.to === 'trash') await isolation.detach(repo, task, registration)
  else await isolation.attach(repo, task, registration)
}

interface RefsSeen {
  /** Still to be moved. */
  readonly open: readonly RefChange[]
  /** Neither where they were nor where they go: somebody else moved them. */
  readonly moved: readonly RefChange[]
  /** Some have been moved by this operation: it cannot be taken back any more. */
  readonly begun: boolean
}

async function lookAtRefs({ git }: Ports, repo: Repo, operation: Operation): Promise<RefsSeen> {
  const [open, moved]: [RefChange[], RefChange[]] = [[], []]
  let begun = false
  for (const change of operation.refs) {
    const now = (await git.findRef(repo.place, change.ref)) ?? null
    if (now === change.new) begun ||= now !== null
    else if (now === change.old) open.push(change)
    else {
      moved.push(change)
      begun ||= await git.isInReflog(repo.place, change.ref, refMessage(operation))
    }
  }
  return { open, moved, begun }
}

function refMessage({ verb, id }: Operation): string {
  return `offshoot: ${verb} ${id}`
}

/** All at once. One that this operation has moved and somebody else since stays where they moved it. */
async function moveRefs(ports: Ports, repo: Repo, operation: Operation): Promise<void> {
  const ours = operation.refs.map(({ ref }) => ref).filter((ref) => ref.startsWith('refs/offshoot/'))
  await ports.git.clearRefLocks(repo.place, ours)
  const { open, moved, begun } = await lookAtRefs(ports, repo, operation)
  if (moved.length > 0 && !begun) throw overtaken(moved)
  if (open.length === 0 || (await ports.git.changeRefs(repo.place, open, refMessage(operation)))) return
  throw overtaken(open)
}

function overtaken(refs: readonly RefChange[]): AppError {
  const conflicts = refs.map(({ ref }) => ({ path: ref, kind: 'changed' }))
  return new AppError(
    'WT_011',
    `${refs.map(({ ref }) => ref).join(', ')} moved meanwhile. Nothing was written.`,
    {
      hint: 'Repeat it.',
      data: { conflicts },
    },
  )
}

/** The operation that takes this one back. */
export function inverse(operation: Operation, id: string, at: string): Operation {
  const swapped = (moves: readonly FileMove[]) =>
    moves.map(({ path: file, from, to }) => ({ path: file, from: to, to: from }))
  const { files, index, workspace, record } = operation
  return {
    id,
    verb: 'undo',
    task: operation.task,
    at,
    undoes: operation.id,
    files: files && { ...files, moves: swapped(files.moves) },
    index: index && { ...index, moves: swapped(index.moves) },
    refs: operation.refs.map(({ ref, old, new: now }) => ({ ref, old: now, new: old })),
    workspace: workspace && { ...workspace, to: workspace.to === 'trash' ? 'back' : 'trash' },
    record: { from: record.to, to: record.from },
    final: operation.final,
  }
}
