/** Landing as commits on a branch: built in memory; files and index of a checkout that has the branch follow. */
import type { AcceptInput } from '../accept.ts'
import { type BytePath, toText } from '../bytes.ts'
import { AppError } from '../errors.ts'
import { askedMessage, tellLanded } from './git-hooks.ts'
import { asFound, type Landing, obstacles } from './patch.ts'
import { filled } from './message.ts'
import type { Offer } from './offer.ts'
import type { FileMove } from '../operation.ts'
import type { Conflict, IndexMove, Leaf, LeafChange, Place, Ports, Repo, Worktree } from '../ports.ts'
import type { Goal } from '../shadow.ts'
import type { Task } from '../task.ts'
import { branchRef } from '../workspace.ts'

type CommitStrategy = 'squash' | 'merge' | 'rebase'

export async function planCommit(
  ports: Ports,
  repo: Repo,
  task: Task,
  offer: Offer,
  as: CommitStrategy,
  input: AcceptInput,
  signal?: AbortSignal,
): Promise<Landing> {
  const onto = input.onto ?? task.base.branch
  if (onto === null) {
    throw new AppError('WT_010', `${task.id} was not started from a branch.`, {
      hint: 'Name one: --onto BRANCH',
    })
  }
  if (onto === task.branch) {
    throw new AppError('WT_019', `${task.id} works on ${onto} itself: nothing can land there.`, {
      hint: 'Use --as patch, --as keep-branch to leave the work on it, or --onto BRANCH for another one.',
    })
  }
  const target = await ports.git.findRef(repo.place, branchRef(onto), signal)
  if (target === undefined)
    throw new AppError('WT_010', `There is no branch ${onto}.`, { hint: 'Name another: --onto BRANCH' })
  await requireUnheld(ports, repo, onto)
  const checkedOut = (await ports.git.readWorktrees(repo.place)).find((worktree) => worktree.branch === onto)
  const place = checkedOut ? placeOf(repo, checkedOut) : repo.place
  const worded = async (message: string) =>
    input.hooks ? askedMessage(ports, place, message, signal) : message
  const built = await build(ports, repo, task, offer, as, input, { onto, target, worded }, signal)
  if (built.conflicts.length > 0) return { conflicts: built.conflicts, refs: [], onto, told: {} }
  const raw = (checkout: string, file: BytePath, to: Leaf) =>
    rawOf(ports, repo, task, offer, built, checkout, file, to)
  const followed = checkedOut && (await follow(ports, repo, task, checkedOut, { ...built, raw }, signal))
  const ref = { ref: branchRef(onto), old: target, new: built.commit }
  return {
    conflicts: followed?.conflicts ?? [],
    refs: built.commit === target ? [] : [ref],
    files: followed?.files,
    index: followed?.index,
    onto,
    goal: task.shadow && (await goalOf(ports, repo, task, offer, built)),
    told: { onto, commit: built.commit },
    ...(input.hooks && checkedOut && { after: () => tellLanded(ports, place, as) }),
  }
}

/** Git refuses to go on with a rebase or a bisect whose branch has moved. */
export async function requireUnheld(ports: Ports, repo: Repo, branch: string): Promise<void> {
  const held = await ports.git.findHolder(repo.place, branch)
  if (!held) return
  throw new AppError('WT_002', `A ${held.verb} of ${branch} is going on in ${held.path}.`, {
    path: held.path,
    hint: `Finish it first, or leave it: git ${held.verb} ${held.verb === 'rebase' ? '--abort' : 'reset'}`,
  })
}

async function goalOf(ports: Ports, repo: Repo, task: Task, offer: Offer, built: Built): Promise<Goal> {
  const start = await ports.vault.readTree(repo, task.base.commit)
  const changes = new Map<BytePath, Leaf | null>()
  for (const [file, { to }] of await ports.contents.compare(repo, start, built.after)) {
    changes.set(file, to && (await rawOf(ports, repo, task, offer, built, task.path, file, to)))
  }
  return { stored: built.after, raw: await ports.contents.change(repo, offer.first.tree, changes) }
}

function placeOf({ commonDir }: Repo, { path: checkout, name }: Worktree): Place {
  return { commonDir, gitDir: name === null ? commonDir : `${commonDir}/worktrees/${name}`, checkout }
}

interface Target {
  readonly onto: string
  readonly target: string
  /** The message of a commit, as the user's hooks want it. */
  worded(message: string): Promise<string>
}

interface Built {
  readonly conflicts: readonly Conflict[]
  readonly commit: string
  /** The target's tree before and after. */
  readonly before: string
  readonly after: string
  /** The agent's side, as git stores it. */
  readonly theirs: string
}

async function build(
  ports: Ports,
  repo: Repo,
  task: Task,
  offer: Offer,
  as: CommitStrategy,
  input: AcceptInput,
  { onto, target, worded }: Target,
  signal?: AbortSignal,
): Promise<Built> {
  const { contents, vault } = ports
  const before = await vault.readTree(repo, target)
  const start = await vault.readStart(repo, task, signal)
  const landed = await vault.clean(
    repo,
    task,
    await contents.compare(repo, offer.first.tree, offer.base),
    signal,
  )
  const base = await contents.change(repo, start, landed)
  const news = await vault.clean(repo, task, await contents.compare(repo, offer.base, offer.theirs), signal)
  const theirs = await contents.change(repo, base, news)
  if (as === 'rebase' && offer.whole && task.landed === undefined) {
    const replayed = await replay(ports, repo, task, { target, worded, before, dryRun: input.dryRun }, signal)
    // What an update has solved would conflict again, step by step: then it lands as one.
    const updated = offer.basis !== offer.first.tree
    if (replayed.conflicts.length === 0 || !updated) return { before, theirs, ...replayed }
  }
  const labels = [onto, task.id] as const
  const merged = await contents.merge(repo, { base, ours: before, theirs, labels }, signal)
  const nothing = { conflicts: merged.conflicts, commit: target, before, after: before, theirs }
  if (merged.conflicts.length > 0 || merged.tree === before || input.dryRun)
    return { ...nothing, after: merged.tree }
  const parents = [target]
  if (as === 'merge') {
    const sides = { target, merged: merged.tree, theirs, start }
    parents.push(await mergedCommit(ports, repo, task, offer, sides, signal))
  }
  const commit = await vault.commit(
    repo,
    task,
    {
      tree: merged.tree,
      parents,
      message: await worded(input.message ?? (await messageFor(ports, repo, task, as))),
    },
    signal,
  )
  return { ...nothing, commit, after: merged.tree }
}

/**
 * What git is to take for merged: all steps, or of a part just that part. The branch of a task that began with what the
 * user had not committed holds that as well, which is theirs to commit: then it is the work alone, on top of the target.
 */
async function mergedCommit(
  { vault }: Ports,
  repo: Repo,
  task: Task,
  { whole }: Offer,
  sides: {
    readonly target: string
    readonly merged: string
    readonly theirs: string
    readonly start: string
  },
  signal?: AbortSignal,
): Promise<string> {
  if (sides.start !== (await vault.readTree(repo, task.base.commit))) {
    const parts = { tree: sides.merged, parents: [sides.target], message: `The work of ${task.id}` }
    return vault.commit(repo, task, parts, signal)
  }
  if (whole) return (await vault.publish(repo, task, signal)).tip
  const message = `A part of ${task.id}`
  return vault.commit(repo, task, { tree: sides.theirs, parents: [task.base.commit], message }, signal)
}

async function messageFor(ports: Ports, repo: Repo, task: Task, as: CommitStrategy): Promise<string> {
  const { squashMessage, mergeMessage } = (await ports.settings.read(task.origin)).accept
  const steps = await ports.vault.readSteps(repo, task)
  return filled(as === 'merge' ? mergeMessage : squashMessage, task, steps)
}

interface Replayed extends Pick<Target, 'target' | 'worded'> {
  readonly before: string
  readonly dryRun: boolean | undefined
}

/** Every step becomes a commit of the user's on top of the target. None is made before all of them fit. */
async function replay(
  ports: Ports,
  repo: Repo,
  task: Task,
  { target, worded, before, dryRun }: Replayed,
  signal?: AbortSignal,
): Promise<Omit<Built, 'before' | 'theirs'>> {
  let tree = before
  const fitted: { tree: string; message: string }[] = []
  for (const step of await ports.vault.readReplay(repo, task, signal)) {
    const labels = ['rebased', step.commit.slice(0, 10)] as const
    const sides = { base: step.parentTree, ours: tree, theirs: step.tree, labels }
    const merged = await ports.contents.merge(repo, sides, signal)
    if (merged.conflicts.length > 0) return { conflicts: merged.conflicts, commit: target, after: before }
    if (merged.tree !== tree) fitted.push({ tree: merged.tree, message: step.subject })
    tree = merged.tree
  }
  let commit = target
  if (dryRun) return { conflicts: [], commit, after: tree }
  for (const { tree: own, message: subject } of fitted) {
    const message = await worded(subject)
    commit = await ports.vault.commit(repo, task, { tree: own, parents: [commit], message }, signal)
  }
  return { conflicts: [], commit, after: tree }
}

interface Followed extends Pick<Built, 'before' | 'after'> {
  /** What a file is to be in the checkout. */
  raw(checkout: string, file: BytePath, to: Leaf): Promise<Leaf>
}

/** Files and index of the checkout that has the branch; where the user has changes of their own, a conflict. */
export async function follow(
  ports: Ports,
  repo: Repo,
  task: Task,
  checkedOut: Worktree,
  { before, after, raw }: Followed,
  signal?: AbortSignal,
): Promise<Pick<Landing, 'files' | 'index' | 'conflicts'>> {
  const { contents, checkouts, vault } = ports
  const { path: checkout } = checkedOut
  const { gitDir } = placeOf(repo, checkedOut)
  const changes = await contents.compare(repo, before, after)
  const paths = [...changes.keys()]
  const found = await contents.take(repo, checkout, paths)
  const present = new Map(
    Array.from(found, ([file, there]) => [file, there.kind === 'file' ? there.leaf : null] as const),
  )
  const cleaned = await vault.clean(repo, task, asChanges(present), signal)
  const tracked = await checkouts.readTracked(gitDir, [...paths, ...paths.flatMap(parentsOf)])
  const conflicts: Conflict[] = []
  const files: FileMove[] = []
  const index: IndexMove[] = []
  for (const [file, { from, to }] of changes) {
    // A submodule's folder is its own affair, as it is to git: what counts is the pointer in the index.
    const isModule = from?.mode === '160000' && found.get(file)?.kind !== 'file'
    const isLeftOut = found.get(file)?.kind === 'gone' && tracked.get(file)?.isLeftOut === true
    const now = isModule || isLeftOut ? from : (cleaned.get(file) ?? null)
    if (!isSame(now, from) || !isSame(tracked.get(file) ?? null, from)) {
      conflicts.push({ path: toText(file), kind: from || tracked.has(file) ? 'changed' : 'untracked' })
      continue
    }
    index.push({
      path: file,
      from: tracked.get(file) ?? null,
      to: to && (isLeftOut ? { ...to, isLeftOut } : to),
    })
    if (isLeftOut || (isModule && (to === null || to.mode === '160000'))) continue
    files.push({
      path: file,
      from: asFound(present.get(file) ?? null, found.get(file)),
      to: to && (await raw(checkout, file, to)),
    })
  }
  for (const file of stagedInTheWay(changes, tracked)) conflicts.push({ path: toText(file), kind: 'changed' })
  const known = new Set(conflicts.map((conflict) => conflict.path))
  const inTheWay = await obstacles(ports, repo, checkout, new Map(files.map((move) => [move.path, move])))
  conflicts.push(...inTheWay.filter((conflict) => !known.has(conflict.path)))
  return { conflicts, files: { checkout, moves: files }, index: { gitDir, moves: index } }
}

function parentsOf(file: BytePath): BytePath[] {
  const parts = file.split('/')
  return parts.slice(1).map((_, count) => parts.slice(0, count + 1).join('/'))
}

/** Entries of the index that stay although a file takes the place of their folder, or a folder theirs. */
function stagedInTheWay(
  changes: ReadonlyMap<BytePath, LeafChange>,
  tracked: ReadonlyMap<BytePath, Leaf>,
): BytePath[] {
  const added = Array.from(changes.keys()).filter((file) => changes.get(file)?.to)
  const [files, folders] = [new Set(added), new Set(added.flatMap(parentsOf))]
  return Array.from(tracked.keys()).filter(
    (staged) =>
      changes.get(staged)?.to !== null &&
      (folders.has(staged) || parentsOf(staged).some((parent) => files.has(parent))),
  )
}

function asChanges(
  leaves: ReadonlyMap<BytePath, Leaf | null>,
): Map<BytePath, { from: null; to: Leaf | null }> {
  return new Map(Array.from(leaves, ([file, to]) => [file, { from: null, to }]))
}

function isSame(a: Leaf | null, b: Leaf | null): boolean {
  return a?.oid === b?.oid && a?.mode === b?.mode
}

/** The bytes for the checkout: the agent's own where they are what landed, else converted as a checkout would. */
async function rawOf(
  ports: Ports,
  repo: Repo,
  task: Task,
  offer: Offer,
  built: Built,
  checkout: string,
  file: BytePath,
  to: Leaf,
): Promise<Leaf> {
  const stored = await ports.contents.findLeaf(repo, built.theirs, file)
  const own = isSame(stored ?? null, to) ? await ports.contents.findLeaf(repo, offer.theirs, file) : undefined
  return own ?? ports.vault.smudge(repo, task, checkout, file, to)
}
