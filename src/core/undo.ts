import { type BytePath, toText } from './bytes.ts'
import { requireOpen, takeStep } from './checkpoint.ts'
import { requireRegistration } from './elsewhere.ts'
import { AppError } from './errors.ts'
import { holdTask } from './hold.ts'
import { requireIdle, requireSettled } from './idle.ts'
import { findOperation } from './kept-operation.ts'
import { findRepo } from './repo.ts'
import { follow, requireUnheld } from './land-commit.ts'
import { asFound, obstacles } from './land-patch.ts'
import { requireStep } from './log.ts'
import { conflictError } from './conflict-error.ts'
import { otherEntries } from './operation-files.ts'
import { inverse } from './operation-back.ts'
import { type FileMove, type Operation, perform, type StepMove } from './operation.ts'
import type { Leaf, Ports, Repo } from './ports.ts'
import { ensureWorkspace, requireWorkspace } from './recreate.ts'
import { findShadow } from './shadow.ts'
import { isOpen, type Task } from './task.ts'
import { basisOf } from './update.ts'
import { branchRef } from './workspace.ts'

export interface KnownOperation {
  readonly id: string
  readonly verb: string
  readonly task: string
  readonly at: string
  readonly undone: boolean
  readonly undoes?: string | undefined
  /** What was done together has the same. */
  readonly batch?: string | undefined
  /** Why it cannot be undone: it has reached others. */
  readonly final?: string | undefined
  /** Too old to be undone. */
  readonly expired: boolean
}

/** The operations of a repository, newest first. */
export async function ops(ports: Ports, input: { dir: string }): Promise<KnownOperation[]> {
  const { repo } = await findRepo(ports, input.dir)
  return repo ? await operationsOf(ports, repo) : []
}

async function operationsOf(ports: Ports, repo: Repo): Promise<KnownOperation[]> {
  const known = new Map<string, Omit<KnownOperation, 'id' | 'undone'>>()
  const done: string[] = []
  const tasks = new Map<string, Task | undefined>()
  for (const { uid, at, event } of await ports.store.readEvents({
    types: ['operation.begun', 'operation.done'],
  })) {
    if (!tasks.has(uid)) tasks.set(uid, await ports.store.findTaskByUid(uid))
    const task = tasks.get(uid)
    if (task?.repo !== repo.id) continue
    // A task that was started in a checkout is given up by reject.
    if (event.type === 'operation.begun' && event.verb !== 'start')
      known.set(event.id, {
        verb: event.verb,
        task: task.id,
        at,
        undoes: event.undoes,
        batch: event.batch,
        final: event.final,
        expired: task.expiry !== undefined,
      })
    if (event.type === 'operation.done') done.push(event.id)
  }
  const undone = undoneOf(done.map((id) => ({ id, undoes: known.get(id)?.undoes })))
  return done.reverse().flatMap((id) => {
    const operation = known.get(id)
    return operation ? [{ id, ...operation, undone: undone.has(id) }] : []
  })
}

/** Undone is what an undo undid, unless that undo was undone itself. */
export function undoneOf(done: readonly { id: string; undoes?: string | undefined }[]): Set<string> {
  const undone = new Set<string>()
  for (const { id, undoes } of done.toReversed())
    if (undoes !== undefined && !undone.has(id)) undone.add(undoes)
  return undone
}

export interface UndoInput {
  readonly dir: string
  /** Left out: the last one that is not undone, that is no undo, and that we did: not what strayed in a run. */
  readonly operation?: string | undefined
}

export interface Undone {
  readonly task: Task
  readonly undone: KnownOperation
  readonly operation: string
  readonly files: readonly string[]
}

/** Takes an operation back. What was changed since is kept where it does not overlap; otherwise nothing is done. */
export async function undo(ports: Ports, input: UndoInput, signal?: AbortSignal): Promise<Undone> {
  if (input.operation === '')
    throw new AppError('WT_019', 'The id of the operation is empty.', { hint: 'offshoot ops lists them.' })
  const { repo } = await findRepo(ports, input.dir)
  const all = repo ? await operationsOf(ports, repo) : []
  const chosen = all.find(({ id, verb, undone, expired }) =>
    input.operation === undefined
      ? !undone && !expired && verb !== 'undo' && verb !== 'run'
      : id.startsWith(input.operation),
  )
  if (!repo || !chosen) {
    const which =
      input.operation === undefined
        ? 'There is nothing to undo here.'
        : `There is no operation ${input.operation}.`
    throw new AppError('WT_005', which, { hint: 'offshoot ops lists them.' })
  }
  if (chosen.undone)
    throw new AppError('WT_019', `${chosen.id} has been undone already.`, {
      hint: 'offshoot ops lists them.',
    })
  if (chosen.expired)
    throw new AppError('WT_005', `${chosen.id} is too old to be undone: the trash has let go of it.`, {
      hint: 'trash.keepDays says for how long everything can be undone.',
    })
  const operation = await findOperation(ports, repo, chosen.id)
  const task = operation && (await ports.store.findTaskByUid(operation.task))
  if (!operation || !task) throw new AppError('WT_005', `The record of ${chosen.id} is gone.`)
  if (operation.final !== undefined)
    throw new AppError('WT_017', `It cannot be undone: ${operation.final}.`, {
      hint: 'offshoot ops lists the others; name one of them.',
    })
  return holdTask(ports, task, { verb: 'undo', signal }, async () => {
    const now = (await ports.store.findTaskByUid(task.uid)) ?? task
    requireSettled(now)
    requireIdle(now)
    const inverted = inverse(operation, ports.ids.uid(), ports.clock.now().toISOString())
    const swapped = hasLanded(all, chosen) ? await whereItIsNow(ports, repo, now, inverted, signal) : inverted
    const back = operation.step
      ? { ...swapped, step: await stepBack(ports, repo, now, operation, operation.step, signal) }
      : operation.head
        ? swapped
        : await fitted(ports, repo, swapped)
    await requireFits(ports, repo, now, back)
    if (operation.verb === 'run') await requireUnused(ports, repo, back)
    const done = await whole(ports, repo, await perform(ports, repo, now, back), signal)
    const files = back.files?.moves.map(({ path: file }) => toText(file)) ?? []
    return { task: done, undone: chosen, operation: back.id, files }
  })
}

/** Whether the operation, or what it takes back, is an accept. */
function hasLanded(all: readonly KnownOperation[], { verb, undoes }: KnownOperation): boolean {
  const undone = all.find(({ id }) => id === undoes)
  return undone ? hasLanded(all, undone) : verb === 'accept'
}

/**
 * A branch that was moved moves back, and with it the files and the index of the checkout that has it now: that need not
 * be the one that had it then.
 */
async function whereItIsNow(
  ports: Ports,
  repo: Repo,
  task: Task,
  back: Operation,
  signal?: AbortSignal,
): Promise<Operation> {
  const moved = back.refs.find((change) => change.old !== null && change.new !== null)
  if (!moved?.old || !moved.new || back.head) return back
  await requireUnheld(ports, repo, moved.ref.slice(branchRef('').length))
  const worktrees = await ports.git.readWorktrees(repo.place)
  const checkedOut = worktrees.find(({ branch }) => branch !== null && branchRef(branch) === moved.ref)
  if (checkedOut?.path === back.files?.checkout) return back
  if (!checkedOut) return { ...back, files: undefined, index: undefined }
  const [before, after] = [
    await ports.vault.readTree(repo, moved.old),
    await ports.vault.readTree(repo, moved.new),
  ]
  const raw = (checkout: string, file: BytePath, to: Leaf) =>
    ports.vault.smudge(repo, task, checkout, file, to)
  const { conflicts, files, index } = await follow(
    ports,
    repo,
    task,
    checkedOut,
    { before, after, raw },
    signal,
  )
  if (conflicts.length > 0) throw conflictError(conflicts, overlaps)
  return { ...back, files, index }
}

/** A folder that has left the trash since is made again from the last step. */
async function whole(ports: Ports, repo: Repo, task: Task, signal?: AbortSignal): Promise<Task> {
  if (!isOpen(task) || task.shadow || (await ports.files.readKind(task.path)) !== undefined) return task
  return (await ensureWorkspace(ports, repo, task, signal)).task
}

const overlaps = 'What came later overlaps: take that back first.'

/** The workspace as it was before, with what was done in it since. */
async function stepBack(
  ports: Ports,
  repo: Repo,
  named: Task,
  { id, verb }: Operation,
  { before }: StepMove,
  signal?: AbortSignal,
): Promise<StepMove> {
  const task = await requireOpen(ports, named)
  await requireWorkspace(ports, repo, task)
  const kept = { tool: 'checkpoint', summary: `before the undo of ${verb}` }
  const { step: last } = await takeStep(ports, repo, task, kept, undefined, signal)
  const steps = await ports.vault.readSteps(repo, task)
  const [then, after] = [requireStep(steps, before), requireStep(steps, before + 1)]
  const sides = { base: after.tree, ours: last.tree, theirs: then.tree, labels: ['now', 'before'] as const }
  const { tree, conflicts } = await ports.contents.merge(repo, sides, signal)
  if (conflicts.length > 0) throw conflictError(conflicts, overlaps)
  const exact = tree === then.tree
  const note = exact ? { rewindTo: before } : { basis: basisOf(steps.slice(0, before + 1)) }
  return { before: last.n, tree, note: { tool: 'undo', summary: `of ${verb} ${id}`, ...note } }
}

/** Later edits of the user's in the same files are merged with what the undo puts back. */
async function fitted(ports: Ports, repo: Repo, back: Operation): Promise<Operation> {
  if (!back.files) return back
  const { contents } = ports
  const { checkout, moves } = back.files
  const found = await contents.take(
    repo,
    checkout,
    moves.map((move) => move.path),
  )
  const present = (file: string) => {
    const there = found.get(file)
    return there?.kind === 'file' ? there.leaf : null
  }
  const tree = (leafOf: (move: FileMove) => FileMove['to']) =>
    contents.change(repo, null, new Map(moves.map((move) => [move.path, leafOf(move)])))
  const [base, ours, theirs] = [
    await tree((move) => move.from),
    await tree((move) => present(move.path)),
    await tree((move) => move.to),
  ]
  const merged = await contents.merge(repo, { base, ours, theirs, labels: ['yours', 'before'] })
  const planned = await contents.compare(repo, ours, merged.tree)
  const conflicts = [...merged.conflicts, ...(await obstacles(ports, repo, checkout, planned))]
  if (conflicts.length > 0) throw conflictError(conflicts, overlaps)
  const wanted = new Map(moves.map((move) => [move.path, move.to]))
  const fits = Array.from(planned, ([file, { from, to }]): FileMove => {
    const known = wanted.get(file)
    const same = known && to && known.oid === to.oid && known.mode === to.mode
    return { path: file, from: asFound(from, found.get(file)), to: same ? known : to }
  })
  return { ...back, files: { checkout, moves: fits } }
}

/**
 * Refs, entries of the index and folders must be as the operation left them. Of a task that comes back a ref may also be where
 * it belongs already: while its repository was gone nobody could move it.
 */
async function requireFits(ports: Ports, repo: Repo, task: Task, back: Operation): Promise<void> {
  for (const { ref, old, new: to } of back.refs) {
    const now = (await ports.git.findRef(repo.place, ref)) ?? null
    if (now === old || (back.workspace?.to === 'back' && now === to)) continue
    throw new AppError('WT_011', `${ref} is not where the operation left it.`, {
      hint: overlaps,
      data: { conflicts: [{ path: ref, kind: 'changed' }] },
    })
  }
  if (back.head) await requireHead(ports, repo, task, back.head)
  // All of an index is looked at when it is staged. What was staged since nothing else may hold.
  const staged = back.index && 'moves' in back.index ? await otherEntries(ports, back.index) : []
  if (staged.length > 0)
    throw conflictError(
      staged.map((file) => ({ path: toText(file), kind: 'changed' })),
      overlaps,
    )
  if (back.workspace?.to === 'back' && (await ports.files.readKind(task.path)) !== undefined) {
    throw new AppError('WT_001', `Something is in the place of the workspace: ${task.path}.`, {
      path: task.path,
    })
  }
  if (back.workspace?.to === 'back') await requireRegistration(ports, repo, task)
  const isRecordChanged = Object.keys(back.record.to).length > 0
  const other = isRecordChanged ? await ports.store.findOpenTask(repo.id, task.id) : undefined
  if (other && other.uid !== task.uid)
    throw new AppError('WT_013', `There is a new task ${task.id} by now.`, { path: other.path })
}

/** Nobody works on a branch that is about to go, as it was not there before. */
async function requireUnused(ports: Ports, repo: Repo, back: Operation): Promise<void> {
  const going = new Set(back.refs.flatMap((change) => (change.new === null ? [change.ref] : [])))
  const user = (await ports.git.readWorktrees(repo.place)).find(
    ({ branch }) => branch !== null && going.has(branchRef(branch)),
  )
  if (user)
    throw new AppError('WT_002', `${user.branch} is checked out in ${user.path}.`, {
      path: user.path,
      hint: 'Switch to another branch there first.',
    })
}

/** The checkout is on the branch that it was left on, and no other task works in it. */
async function requireHead(ports: Ports, repo: Repo, task: Task, head: NonNullable<Operation['head']>) {
  const place = { ...repo.place, gitDir: head.gitDir }
  const [now, other] = [await ports.git.readHeadBranch(place), await findShadow(ports, repo, task.path)]
  if (now === head.from && (other === undefined || other.uid === task.uid)) return
  const why = other ? `${other.id} is at work there` : `it is on ${now ?? 'no branch'}`
  throw new AppError('WT_011', `${task.path} is not as the operation left it: ${why}.`, {
    path: task.path,
    hint: other ? `Accept or reject ${other.id} first.` : `Bring it back first: git switch ${head.from}`,
    data: { conflicts: [{ path: 'HEAD', kind: 'changed' }] },
  })
}
