/** The shared part of squash, merge and rebase: builds commits without a checkout; one that has the branch then follows. */
import type { BytePath } from '../model/bytes.ts'
import { quoted } from '../base/shell-quote.ts'
import { AppError } from '../model/errors.ts'
import { isSame } from '../model/leaf.ts'
import type { Conflict, Leaf } from '../model/tree.ts'
import type { HookCall } from '../model/git.ts'
import type { Ports } from '../ports/index.ts'
import type { Repo } from '../model/repo.ts'
import type { Goal } from '../operations/shadow.ts'
import { branchRef } from '../model/refs.ts'
import { requireBaseCommit } from '../workspaces/recreate.ts'
import { follow, placeOf } from './follow.ts'
import { checkedMessage } from './git-hooks.ts'
import { fillMessage } from './message.ts'
import { ontoHint } from './options.ts'
import type { Landing, LandingWork } from './strategy.ts'

/** The trees that the commits are built from, as git stores them. */
export interface Sides {
  readonly onto: string
  /** The commit that the branch is at. */
  readonly target: string
  /** The tree of that commit. */
  readonly before: string
  /** The workspace at its start, with the user's uncommitted changes of that time. */
  readonly start: string
  /** The part of the work that has landed already. */
  readonly base: string
  /** `base` with the part that lands now. */
  readonly theirs: string
  /** The message of a commit after the user's `commit-msg` hook. */
  worded(message: string): Promise<string>
}

export interface Built extends Pick<Sides, 'before' | 'theirs'> {
  readonly conflicts: readonly Conflict[]
  readonly commit: string
  /** The tree of the branch afterwards. */
  readonly after: string
}

interface CommitKind {
  build(sides: Sides): Promise<Built>
  /** The git hook that runs afterwards. */
  readonly tells: HookCall
}

export async function planCommit(work: LandingWork, kind: CommitKind): Promise<Landing> {
  const { ports, repo, task, input, signal } = work
  const { onto, target } = await requireTarget(work)
  await requireBaseCommit(work)
  const checkedOut = (await ports.git.readWorktrees(repo.place)).find((worktree) => worktree.branch === onto)
  const place = checkedOut ? placeOf(repo, checkedOut) : repo.place
  const worded = async (message: string) =>
    input.hooks ? checkedMessage(ports, place, message, signal) : message
  const built = await kind.build(await readSides(work, { onto, target, worded }))
  if (built.conflicts.length > 0) return { conflicts: built.conflicts, refs: [], onto, landed: {} }
  const raw = (checkout: string, file: BytePath, to: Leaf) => rawOf(work, built, checkout, file, to)
  const followed = checkedOut && (await follow(work, checkedOut, { ...built, raw }))
  return {
    conflicts: followed?.conflicts ?? [],
    refs: built.commit === target ? [] : [{ ref: branchRef(onto), old: target, new: built.commit }],
    files: followed?.files,
    index: followed?.index,
    onto,
    goal: task.shadow && (await goalOf(work, built)),
    landed: { onto, commit: built.commit },
    // As in git, the exit code of a post hook is ignored.
    ...(input.hooks &&
      checkedOut && { after: async () => void (await ports.git.runHook(place, kind.tells)) }),
  }
}

/** The branch to land on, and the commit that it is at. */
async function requireTarget({ ports, repo, task, input, signal }: LandingWork) {
  const onto = input.onto ?? task.base.branch
  if (onto === null) {
    throw new AppError('baseMissing', `${task.id} was not started from a branch.`, {
      hint: ontoHint,
    })
  }
  if (onto === task.branch) {
    throw new AppError('wrongUsage', `${task.id} works on ${onto} itself: nothing can land there.`, {
      hint: 'Use --as patch, --as keep-branch to leave the work on it, or --onto for another one; git branch lists them.',
    })
  }
  const target = await ports.refs.findRef(repo.place, branchRef(onto), signal)
  if (target === undefined)
    throw new AppError('baseMissing', `There is no branch ${onto}.`, { hint: ontoHint })
  await requireUnheld(ports, repo, onto)
  return { onto, target }
}

/** Throws while a rebase or bisect is based on the branch: git refuses to continue it once the branch has moved. */
export async function requireUnheld(ports: Pick<Ports, 'git'>, repo: Repo, branch: string): Promise<void> {
  const held = await ports.git.findHolder(repo.place, branch)
  if (!held) return
  throw new AppError('branchInUse', `A ${held.verb} of ${branch} is going on in ${held.path}.`, {
    path: held.path,
    hint: `Finish it first, or give it up: git -C ${quoted(held.path)} ${held.verb} ${held.verb === 'rebase' ? '--abort' : 'reset'}`,
  })
}

async function readSides(
  { ports, repo, task, offer, signal }: LandingWork,
  to: Pick<Sides, 'onto' | 'target' | 'worded'>,
): Promise<Sides> {
  const { contents, publishing, seeding } = ports
  const before = await publishing.readTree(repo, to.target)
  const start = await seeding.readStart(repo, task, 'all', signal)
  const stored = async (from: string, until: string) =>
    publishing.clean(repo, task, await contents.compare(repo, from, until), signal)
  const base = await contents.change(repo, start, await stored(offer.first.tree, offer.base))
  const theirs = await contents.change(repo, base, await stored(offer.base, offer.theirs))
  return { ...to, before, start, base, theirs }
}

interface OneCommit {
  /** The setting with the message, for when the user gives none. */
  readonly message: 'squashMessage' | 'mergeMessage'
  /** Makes the second parent, from the merged tree. */
  readonly merged?: (tree: string) => Promise<string>
}

/** All of the work as one commit on top of the target. */
export async function buildOne(
  work: LandingWork,
  { onto, target, before, base, theirs, worded }: Sides,
  { message, merged: secondParent }: OneCommit,
): Promise<Built> {
  const { ports, repo, task, input, signal } = work
  const labels = [onto, task.id] as const
  const merged = await ports.contents.merge(repo, { base, ours: before, theirs, labels }, signal)
  const built = { conflicts: merged.conflicts, commit: target, before, after: merged.tree, theirs }
  if (merged.conflicts.length > 0 || merged.tree === before || input.dryRun) return built
  const parents = secondParent ? [target, await secondParent(merged.tree)] : [target]
  const words = await worded(input.message ?? (await messageOf(work, message)))
  const commit = await ports.publishing.commit(
    repo,
    task,
    { tree: merged.tree, parents, message: words },
    signal,
  )
  return { ...built, commit }
}

async function messageOf({ ports, repo, task }: LandingWork, setting: OneCommit['message']): Promise<string> {
  const { accept } = await ports.settings.read(task.origin)
  return fillMessage(accept[setting], task, await ports.steps.readSteps(repo, task))
}

async function goalOf(work: LandingWork, built: Built): Promise<Goal> {
  const { ports, repo, task, offer } = work
  const start = await ports.publishing.readTree(repo, task.base.commit)
  const changes = new Map<BytePath, Leaf | null>()
  for (const [file, { to }] of await ports.contents.compare(repo, start, built.after)) {
    changes.set(file, to && (await rawOf(work, built, task.path, file, to)))
  }
  return { stored: built.after, raw: await ports.contents.change(repo, offer.first.tree, changes) }
}

/** The bytes for the checkout: the agent's own if the file landed unmerged, else converted as a checkout would. */
async function rawOf(
  { ports, repo, task, offer }: LandingWork,
  built: Built,
  checkout: string,
  file: BytePath,
  to: Leaf,
): Promise<Leaf> {
  const stored = await ports.contents.findLeaf(repo, built.theirs, file)
  const own = isSame(stored, to) ? await ports.contents.findLeaf(repo, offer.theirs, file) : undefined
  return own ?? ports.publishing.smudge(repo, task, checkout, file, to)
}
