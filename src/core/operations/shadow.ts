/**
 * Enters and leaves a shadow branch, on which a task works in the user's own checkout
 * (docs/adr/0017-a-shadow-branch-is-an-operation.md). The vault keeps the user's uncommitted files and the index, byte for
 * byte, until the task ends.
 */
import type { Work } from '../tasks/work.ts'
import path from 'node:path'
import { now } from '../base/time.ts'
import type { BytePath } from '../model/bytes.ts'
import { AppError } from '../model/errors.ts'
import { isSame } from '../model/leaf.ts'
import type { FileMove, Operation } from '../model/operation.ts'
import { branchRef, keptIndexRef, pinRef } from '../model/refs.ts'
import type { Repo } from '../model/repo.ts'
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Conflict, Leaf } from '../model/tree.ts'
import type { Ports } from '../ports/index.ts'
import { firstOf, stayed } from '../steps/history.ts'
import { takeStep } from '../steps/take.ts'
import { rawTree } from '../workspaces/raw-tree.ts'
import { findOperation } from './kept.ts'
import { newOperation } from './new.ts'

/** The open task that works in a checkout of the user. */
export async function findShadow(
  ports: Pick<Ports, 'store'>,
  repo: Repo,
  checkout: string | null,
): Promise<Task | undefined> {
  return (await ports.store.readTasks({ repo: repo.id, open: true })).find(
    (task) => task.shadow !== undefined && task.path === checkout,
  )
}

/** The files of something half-done in a checkout, and what gives it up. */
const underWay = {
  MERGE_HEAD: 'merge --abort',
  CHERRY_PICK_HEAD: 'cherry-pick --abort',
  REVERT_HEAD: 'revert --abort',
  BISECT_LOG: 'bisect reset',
  'rebase-merge': 'rebase --abort',
  'rebase-apply': 'rebase --abort',
}

/** Throws unless the checkout is on a branch, without an unfinished merge or rebase. */
export async function requireShadowable(ports: Pick<Ports, 'files' | 'git'>, repo: Repo): Promise<void> {
  const { checkout, gitDir } = repo.place
  if (checkout === null)
    throw new AppError('notARepository', 'A bare repository has no checkout to work in.', {
      hint: 'Leave --isolation branch out.',
    })
  // First: a rebase has detached HEAD, and lets nobody switch.
  for (const [name, back] of Object.entries(underWay)) {
    if ((await ports.files.readKind(path.join(gitDir, name))) === undefined) continue
    throw new AppError('uncommittedChanges', `Something is half-done in ${checkout}: there is ${name}.`, {
      path: checkout,
      hint: `Finish it first, or give it up: git ${back}`,
    })
  }
  if ((await ports.git.readHeadBranch(repo.place)) === null) {
    throw new AppError('baseMissing', 'HEAD is detached: there is no branch to come back to.', {
      path: checkout,
      hint: 'Switch to a branch first, or leave --isolation branch out.',
    })
  }
  if ((await ports.files.readKind(path.join(gitDir, 'index'))) === undefined) throw noIndex(gitDir)
}

/** Plans the start: puts the user's uncommitted changes away, and switches to the task's branch. */
export async function entering(
  ports: Ports,
  repo: Repo,
  task: Task & { shadow: NonNullable<Task['shadow']> },
  signal?: AbortSignal,
): Promise<Operation> {
  const { indexes, contents } = ports
  const { gitDir, operation } = task.shadow
  const base = task.base.branch ?? ''
  const { commit } = task.base
  const index = await readIndex(ports, repo, gitDir)
  const staged = await indexes.findIndexTree(repo, index)
  if (staged === undefined) {
    throw new AppError('uncommittedChanges', 'The index holds an unresolved merge.', {
      path: task.path,
      hint: 'Resolve it first (git status names the files), or leave --isolation branch out.',
    })
  }
  const clean = await indexes.draftIndex(repo, index, { commit })
  const head = await ports.publishing.readTree(repo, commit)
  const changed = new Set([
    ...(await contents.compare(repo, head, staged)).keys(),
    ...(await indexes.scan(repo, task.path, clean, signal)),
  ])
  const at = now(ports)
  return newOperation({ ports, task }, 'start', {
    id: operation,
    at,
    files: { checkout: task.path, moves: await putAway({ ports, repo, task }, head, changed) },
    index: { gitDir, from: index, to: clean },
    head: { gitDir, from: base, to: task.branch },
    refs: [
      { ref: pinRef(task.uid), old: null, new: commit },
      { ref: branchRef(task.branch), old: null, new: commit },
      { ref: keptIndexRef(task.uid), old: null, new: await indexes.storeIndexTree(repo, index) },
    ],
    record: { from: { state: 'failed', closedAt: at, hidden: true }, to: { state: 'active' } },
  })
}

async function readIndex(ports: Pick<Ports, 'contents'>, repo: Repo, gitDir: string): Promise<Leaf> {
  const found = (await ports.contents.capture(repo, gitDir, ['index'])).get('index')
  if (found?.kind === 'file') return { ...found.leaf, permissions: found.permissions }
  throw noIndex(gitDir)
}

function noIndex(gitDir: string): AppError {
  return new AppError('uncommittedChanges', 'The checkout has no index.', {
    path: gitDir,
    hint: 'git reset makes one.',
  })
}

async function putAway(
  { ports, repo, task }: Work,
  head: string,
  changed: Iterable<BytePath>,
): Promise<FileMove[]> {
  const found = await ports.contents.capture(repo, task.path, changed)
  const moves: FileMove[] = []
  for (const [file, there] of found) {
    if (there.kind === 'special' || there.kind === 'folder') continue
    const from = there.kind === 'file' ? { ...there.leaf, permissions: there.permissions } : null
    const stored = await ports.contents.findLeaf(repo, head, file)
    const to = stored ? await ports.publishing.smudge(repo, task, task.path, file, stored) : null
    if (!isSame(from, to)) moves.push({ path: file, from, to })
  }
  return moves
}

/** Files that could not be put away, such as a nested repository, are not the agent's work: they count as landed. */
export async function seedShadow(work: Work): Promise<Task['landed']> {
  const { ports, repo, task } = work
  await ports.seeding.reseed(repo, task)
  const first = await ports.seeding.seed(repo, task)
  const note = { tool: stayed, summary: 'what stayed in the checkout' }
  await takeStep({ ...work, signal: undefined }, note)
  const begins = firstOf(task, await ports.steps.readSteps(repo, task))
  return begins.n === 0 ? undefined : { tree: begins.tree, basis: first.tree }
}

/** The tree of the base branch after the task has ended, as git stores it and with the bytes of a checkout. */
export interface Goal {
  readonly stored: string
  readonly raw: string
}

export type Leaving = Pick<Operation, 'files' | 'index' | 'head' | 'refs'> & {
  readonly conflicts: readonly Conflict[]
}

/** Plans the end: back to the user's branch with the changes that were put away; without a goal, the branch as it is. */
export async function leaving(work: Work, goal?: Goal): Promise<Leaving> {
  const { ports, repo } = work
  const { contents } = ports
  const note = { tool: 'sweep', summary: 'before the branch was left' }
  const { task, step: last } = await takeStep({ ...work, signal: undefined }, note)
  const { gitDir, operation } = task.shadow ?? { gitDir: '', operation: '' }
  const parked = await findOperation(ports, repo, operation)
  if (!parked?.files || !parked.index || 'moves' in parked.index || !parked.head)
    throw new AppError('notFound', `What was put away for ${task.id} is gone.`, {
      hint: 'Bring the vault back from a backup of the state folder, then repeat.',
    })
  const first = firstOf(task, await ports.steps.readSteps(repo, task))
  const branch = parked.head.from
  const target = await ports.refs.findRef(repo.place, branchRef(branch))
  const { stored, raw } = goal ?? (await goalAt({ ...work, task }, first, target ?? task.base.commit))
  const own = new Map(parked.files.moves.map((move) => [move.path, move.from]))
  const mine = await contents.change(repo, first.tree, own)
  const labels = ['yours', task.id] as const
  const merged = await contents.merge(repo, { base: first.tree, ours: mine, theirs: raw, labels })
  const moves = Array.from(await contents.compare(repo, last.tree, merged.tree), ([file, { from, to }]) => {
    const kept = own.get(file) ?? null
    return { path: file, from, to: to && isSame(kept, to) ? kept : to }
  })
  const staged = await stagedWith({ ...work, task }, parked.index.from, stored)
  return {
    conflicts: [...merged.conflicts, ...staged.conflicts],
    files: { checkout: task.path, moves },
    index: { gitDir, from: await readIndex(ports, repo, gitDir), to: staged.index },
    head: { gitDir, from: task.branch, to: branch },
    refs: target === undefined ? [{ ref: branchRef(branch), old: null, new: task.base.commit }] : [],
  }
}

/** The user's index with the commits that landed since the start; if the user had staged changes, both are merged. */
async function stagedWith({ ports, repo, task }: Work, index: Leaf, after: string) {
  const { indexes, contents } = ports
  const head = await ports.publishing.readTree(repo, task.base.commit)
  if (head === after) return { index, conflicts: [] }
  const staged = (await indexes.findIndexTree(repo, index)) ?? head
  const labels = ['staged', task.id] as const
  const { tree, conflicts } = await contents.merge(repo, { base: head, ours: staged, theirs: after, labels })
  const moves = Array.from(await contents.compare(repo, staged, tree), ([file, change]) => ({
    path: file,
    ...change,
  }))
  if (moves.length === 0) return { index, conflicts }
  // The merged contents are only in the vault; this commit brings them into the user's repository.
  if (staged !== head && conflicts.length === 0)
    await ports.publishing.commit(repo, task, { tree, parents: [task.base.commit], message: 'Staged' })
  return { index: await indexes.draftIndex(repo, index, { moves }), conflicts }
}

export async function goalAt(work: Work, first: Step, commit: string): Promise<Goal> {
  const { ports, repo } = work
  const stored = await ports.publishing.readTree(repo, commit)
  return { stored, raw: await rawTree(work, first.tree, commit) }
}
