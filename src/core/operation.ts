/**
 * One undoable act: files of a checkout, its index, refs, a workspace and the task's record, changed together. It is
 * written down whole before anything is touched. Until everything new is staged it can only be taken back, from then
 * on it can only be finished: a kill at any instant leaves all of it or nothing.
 */
import path from 'node:path'
import type { BytePath } from './bytes.ts'
import { toText } from './bytes.ts'
import { catchUp, publishSteps, takeStep } from './checkpoint.ts'
import { eachOf } from './each.ts'
import { AppError, appError } from './errors.ts'
import type { Conflict, Found, Leaf, Ports, RefChange, Repo, StepNote } from './ports.ts'
import { seedShadow } from './shadow.ts'
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

type IndexPart = { readonly gitDir: string } & (
  | { readonly moves: readonly FileMove[] }
  | { readonly from: Leaf; readonly to: Leaf }
)

/** The files of the workspace become those of a tree, and that is one more step. */
export interface StepMove {
  /** The last step before it. */
  readonly before: number
  readonly tree: string
  readonly note: StepNote
}

export interface Operation {
  readonly id: string
  readonly verb: 'accept' | 'reject' | 'remove' | 'delete' | 'rewind' | 'update' | 'undo' | 'start'
  readonly task: string
  readonly at: string
  /** What this one undid. */
  readonly undoes?: string | undefined
  readonly files?: { readonly checkout: string; readonly moves: readonly FileMove[] } | undefined
  /** Entries of that checkout's index, or all of the file. */
  readonly index?: IndexPart | undefined
  /** The branch that the checkout is on. */
  readonly head?: { readonly gitDir: string; readonly from: string; readonly to: string } | undefined
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
  { files, index, step }: Operation,
): Promise<Record<string, string>> {
  if (step) return { step: step.tree }
  if (!files) return {}
  const { contents } = ports
  const empty = await contents.change(repo, null, new Map())
  const tree = (side: 'from' | 'to') =>
    contents.change(repo, empty, new Map(files.moves.map((move) => [move.path, move[side]])))
  const trees = { before: await tree('from'), after: await tree('to') }
  if (!index || 'moves' in index) return trees
  const indexes = await contents.change(
    repo,
    empty,
    new Map(Object.entries({ from: index.from, to: index.to })),
  )
  return { ...trees, indexes }
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
  const { index: indexMove } = operation
  if (indexMove) await ports.checkouts.lockIndex(indexMove.gitDir, staging)
  if (indexMove && 'to' in indexMove) {
    await requireIndex(ports, repo, indexMove.gitDir, indexMove.from)
    await ports.contents.exportFile(repo, indexMove.to, path.join(staging, 'index'))
  }
  const written: string[] = indexMove && 'to' in indexMove ? [path.join(staging, 'index')] : []
  await eachOf(operation.files.moves.entries(), 8, async ([index, { to }]) => {
    if (!to || to.mode === '160000') return
    await ports.contents.exportFile(repo, to, stagedFile(staging, index))
    if (to.mode !== '120000') written.push(stagedFile(staging, index))
  })
  await ports.files.syncFiles(written)
  await ports.files.syncFolders([staging, path.dirname(staging)])
}

/** Git notes the looks of files there whenever it looks at them; what counts are the entries. */
async function requireIndex(ports: Ports, repo: Repo, gitDir: string, expected: Leaf): Promise<void> {
  const { contents } = ports
  const found = (await contents.take(repo, gitDir, ['index'])).get('index')
  if (found?.kind === 'file') {
    if (found.leaf.oid === expected.oid) return
    const [now, then] = [
      await contents.findIndexTree(repo, found.leaf),
      await contents.findIndexTree(repo, expected),
    ]
    if (now !== undefined && now === then) return
  }
  throw conflictError([{ path: path.join(gitDir, 'index'), kind: 'changed' }])
}

/** What the user did since the plan was made must not be overwritten by it. */
async function requireUnchanged(ports: Ports, repo: Repo, { files }: Operation): Promise<void> {
  if (!files) return
  const now = await look(ports, repo, files)
  const conflicts = files.moves.filter(({ path: file, from }) => !isStill(now.get(file), from))
  if (conflicts.length > 0)
    throw conflictError(conflicts.map(({ path: file }) => ({ path: toText(file), kind: 'changed' })))
}

/** What lies at the paths concerned; what the vault has of them already is not stored again. */
function look(ports: Ports, repo: Repo, { checkout, moves }: NonNullable<Operation['files']>) {
  const known = new Map(moves.map(({ path: file, from, to }) => [file, [from, to]]))
  return ports.contents.take(repo, checkout, known.keys(), known)
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
  const { id, record } = operation
  const staging = stagingFolder(repo, operation)
  const now = () => ports.clock.now().toISOString()
  const pending = ports.store.findTaskByUid(task.uid)?.pending
  // Should the last append fail, nobody may try to finish it without what was staged.
  if (pending?.verb === 'operation' && pending.staged)
    ports.store.append(task.uid, { type: 'operation.unstaged', id }, now())
  if (operation.index) await ports.checkouts.unlockIndex(operation.index.gitDir, staging)
  if ((await ports.files.readKind(staging)) !== undefined) await ports.files.remove(staging)
  ports.store.append(task.uid, { type: 'operation.undone', id, reason, patch: record.from }, now())
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
  if (operation.index) await moveIndex(ports, operation.index, staging)
  if (operation.head) await moveHead(ports, repo, operation, operation.head)
  if (operation.workspace) await moveWorkspace(ports, repo, task, operation.workspace)
  if (operation.step) await moveStep(ports, repo, task, operation.step)
  if ((await ports.files.readKind(staging)) !== undefined) await ports.files.remove(staging)
  const { id, record, verb } = operation
  const landed = verb === 'start' ? await seedShadow(ports, repo, task) : undefined
  const patch = landed ? { ...record.to, landed } : record.to
  const at = ports.clock.now().toISOString()
  const done = ports.store.append(task.uid, { type: 'operation.done', id, patch, left }, at)
  return operation.step ? publishSteps(ports, repo, done) : done
}

async function moveIndex({ checkouts }: Ports, index: IndexPart, staging: string): Promise<void> {
  if ('moves' in index) await checkouts.changeIndex(index.gitDir, index.moves, staging)
  else await checkouts.placeIndex(index.gitDir, staging)
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
  const now = await look(ports, repo, files)
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
      folders.add(await ports.checkouts.place(staged, checkout, file, to))
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

/**
 * All at once. One that this operation has moved and somebody else since stays where they moved it. Where a checkout
 * changes its branch, the one that it is on still goes afterwards.
 */
async function moveRefs(ports: Ports, repo: Repo, whole: Operation): Promise<void> {
  const refs = whole.refs.filter((change) => !whole.head || change.new !== null)
  const operation = { ...whole, refs }
  const ours = operation.refs.map(({ ref }) => ref).filter((ref) => ref.startsWith('refs/offshoot/'))
  await ports.git.clearRefLocks(repo.place, ours)
  const { open, moved, begun } = await lookAtRefs(ports, repo, operation)
  if (moved.length > 0 && !begun) throw overtaken(moved)
  if (open.length === 0 || (await ports.git.changeRefs(repo.place, open, refMessage(operation)))) return
  throw overtaken(open)
}

/** A checkout is never on a branch that is not there. */
async function moveHead(
  ports: Ports,
  repo: Repo,
  operation: Operation,
  { gitDir, to }: NonNullable<Operation['head']>,
): Promise<void> {
  await ports.git.moveHead({ ...repo.place, gitDir }, to, refMessage(operation))
  const refs = operation.refs.filter((change) => change.new === null)
  const { open } = await lookAtRefs(ports, repo, { ...operation, refs })
  if (open.length > 0) await ports.git.changeRefs(repo.place, open, refMessage(operation))
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
