/** Landing as commits on a branch: built in memory; files and index of a checkout that has the branch follow. */
import type { AcceptInput } from './accept.ts'
import { type BytePath, toText } from './bytes.ts'
import { AppError } from './errors.ts'
import { askedMessage, tellLanded } from './hooks.ts'
import type { Landing } from './land-patch.ts'
import { filled } from './message.ts'
import type { Offer } from './offer.ts'
import type { FileMove } from './operation.ts'
import type { Conflict, Leaf, Place, Ports, Repo, Worktree } from './ports.ts'
import type { Goal } from './shadow.ts'
import type { Task } from './task.ts'
import { branchRef } from './workspace.ts'

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
  const target = await ports.git.findRef(repo.place, branchRef(onto), signal)
  if (target === undefined)
    throw new AppError('WT_010', `There is no branch ${onto}.`, { hint: 'Name another: --onto BRANCH' })
  const checkedOut = (await ports.git.readWorktrees(repo.place)).find((worktree) => worktree.branch === onto)
  const place = checkedOut ? placeOf(repo, checkedOut) : repo.place
  const worded = async (message: string) =>
    input.hooks ? askedMessage(ports, place, message, signal) : message
  const built = await build(ports, repo, task, offer, as, input, { onto, target, worded }, signal)
  if (built.conflicts.length > 0) return { conflicts: built.conflicts, refs: [], onto, told: {} }
  const followed = checkedOut && (await follow(ports, repo, task, offer, checkedOut, built, signal))
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
  const start = await vault.readTree(repo, task.base.commit)
  const landed = await vault.clean(
    repo,
    task,
    await contents.compare(repo, offer.first.tree, offer.base),
    signal,
  )
  const base = await contents.change(repo, start, landed)
  const news = await vault.clean(repo, task, await contents.compare(repo, offer.base, offer.theirs), signal)
  const theirs = await contents.change(repo, base, news)
  const labels = [onto, task.id] as const
  const merged = await contents.merge(repo, { base, ours: before, theirs, labels }, signal)
  const nothing = { conflicts: merged.conflicts, commit: target, before, after: before, theirs }
  if (merged.conflicts.length > 0 || merged.tree === before || input.dryRun)
    return { ...nothing, after: merged.tree }
  if (as === 'rebase' && offer.whole && task.landed === undefined) {
    return { ...nothing, ...(await replay(ports, repo, task, { target, worded }, before, signal)) }
  }
  const parents = [target]
  if (as === 'merge') parents.push((await vault.publish(repo, task, signal)).tip)
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

async function messageFor(ports: Ports, repo: Repo, task: Task, as: CommitStrategy): Promise<string> {
  const { squashMessage, mergeMessage } = (await ports.settings.read(task.origin)).accept
  const steps = await ports.vault.readSteps(repo, task)
  return filled(as === 'merge' ? mergeMessage : squashMessage, task, steps)
}

/** Every step becomes a commit of the user's on top of the target. */
async function replay(
  ports: Ports,
  repo: Repo,
  task: Task,
  { target, worded }: Pick<Target, 'target' | 'worded'>,
  before: string,
  signal?: AbortSignal,
) {
  let [commit, tree] = [target, before]
  for (const { commit: source, subject, tree: theirs, parentTree } of await ports.vault.readReplay(
    repo,
    task,
    signal,
  )) {
    const sides = { base: parentTree, ours: tree, theirs, labels: ['rebased', source.slice(0, 10)] as const }
    const merged = await ports.contents.merge(repo, sides, signal)
    if (merged.conflicts.length > 0) return { conflicts: merged.conflicts, commit: target, after: before }
    if (merged.tree === tree) continue
    tree = merged.tree
    const message = await worded(subject)
    commit = await ports.vault.commit(repo, task, { tree, parents: [commit], message }, signal)
  }
  return { conflicts: [], commit, after: tree }
}

/** Files and index of the checkout that has the branch; where the user has changes of their own, a conflict. */
async function follow(
  ports: Ports,
  repo: Repo,
  task: Task,
  offer: Offer,
  checkedOut: Worktree,
  built: Built,
  signal?: AbortSignal,
): Promise<Pick<Landing, 'files' | 'index' | 'conflicts'>> {
  const { contents, checkouts, vault } = ports
  const { path: checkout } = checkedOut
  const { gitDir } = placeOf(repo, checkedOut)
  const changes = await contents.compare(repo, built.before, built.after)
  const paths = [...changes.keys()]
  const found = await contents.take(repo, checkout, paths)
  const present = new Map(
    Array.from(found, ([file, there]) => [file, there.kind === 'file' ? there.leaf : null] as const),
  )
  const cleaned = await vault.clean(repo, task, asChanges(present), signal)
  const tracked = await checkouts.readTracked(gitDir, paths)
  const conflicts: Conflict[] = []
  const files: FileMove[] = []
  const index: FileMove[] = []
  for (const [file, { from, to }] of changes) {
    const there = found.get(file)
    const own =
      there?.kind === 'folder' ||
      there?.kind === 'special' ||
      (there?.kind === 'gone' && there.blockedBy !== undefined && to)
    if (own || !isSame(cleaned.get(file) ?? null, from) || !isSame(tracked.get(file) ?? null, from)) {
      conflicts.push({ path: toText(file), kind: from || tracked.has(file) ? 'changed' : 'untracked' })
      continue
    }
    index.push({ path: file, from, to })
    files.push({
      path: file,
      from: present.get(file) ?? null,
      to: to && (await rawOf(ports, repo, task, offer, built, checkout, file, to)),
    })
  }
  return { conflicts, files: { checkout, moves: files }, index: { gitDir, moves: index } }
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
