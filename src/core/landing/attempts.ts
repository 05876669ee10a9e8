/** Tries landings out, by the plan of the strategy `patch`: in the checkout, on a branch, and one after the other. */
import { type BytePath, toText } from '../model/bytes.ts'
import { appError } from '../model/errors.ts'
import { isSame } from '../model/leaf.ts'
import { branchRef } from '../model/refs.ts'
import type { Conflict, Leaf } from '../model/tree.ts'
import { findOperation } from '../operations/kept.ts'
import { attributeFiles } from '../model/attribute-files.ts'
import { apart, type Meeting, meeting, type PairForecast, unknown } from './forecast.ts'
import { afterLanding, type Moved, onTree } from './grounds.ts'
import type { OfferedTask } from './offered-tasks.ts'
import { sharedPaths } from './overlap.ts'
import { patch } from './patch.ts'
import type { TrialPorts } from './trial-ports.ts'

/** The outcome of a landing that was only tried out. */
export interface Attempt {
  readonly conflicts: readonly Conflict[]
  readonly moved: Moved
  /** The landing had to look at all files, so that any other file may have a part in its outcome. */
  readonly looked: boolean
}

export async function attempt(ground: TrialPorts, { task, repo, offer }: OfferedTask): Promise<Attempt> {
  ground.signal?.throwIfAborted()
  let looked = false
  const { contents } = ground
  const ports = {
    ...ground,
    contents: {
      ...contents,
      captureAll: ((...args) => {
        looked = true
        return contents.captureAll(...args)
      }) satisfies typeof contents.captureAll,
    },
  }
  const { conflicts, files } = await patch.plan({ ports, repo, task, offer, input: {} })
  return { conflicts, moved: new Map(files?.moves.map(({ path, to }) => [path, to])), looked }
}

/** A task with the outcomes that pairs are made from. */
export interface Judged {
  readonly offered: OfferedTask
  readonly target: Meeting
  readonly checkout: Meeting
  /** Its landing in the checkout; undefined when it does not land there. */
  readonly landed: Attempt | undefined
}

/** `ground` is the checkout, maybe after other landings; the branch is as it is. All are tried at once. */
export async function judgeAll(
  trial: TrialPorts,
  ground: TrialPorts,
  tasks: readonly OfferedTask[],
): Promise<Judged[]> {
  const [targets, landings] = [new Map<OfferedTask, Meeting>(), new Map<OfferedTask, InCheckout>()]
  const tries = tasks.flatMap((task) => [
    async () => void targets.set(task, await known(() => againstTarget(trial, task))),
    async () => void landings.set(task, await tryInCheckout(trial, ground, task)),
  ])
  await trial.runAll(tries)
  return tasks.map((offered) => ({
    offered,
    target: targets.get(offered) ?? apart,
    ...(landings.get(offered) ?? { checkout: apart, landed: undefined }),
  }))
}

type InCheckout = Pick<Judged, 'checkout' | 'landed'>

async function tryInCheckout(
  trial: TrialPorts,
  ground: TrialPorts,
  offered: OfferedTask,
): Promise<InCheckout> {
  const { unsolved, blocked, task } = offered
  if (blocked !== undefined) return { checkout: unknown(blocked), landed: undefined }
  if (task.shadow) return { checkout: await known(() => againstPutAway(trial, offered)), landed: undefined }
  let landed: Attempt | undefined
  const checkout = await known(async () => {
    const tried = await attempt(ground, offered)
    const conflicts = [...unsolved, ...tried.conflicts]
    if (conflicts.length === 0) landed = tried
    return meeting(await changedThere(ground, offered, tried), conflicts)
  })
  return { checkout, landed }
}

/** What cannot be found out, as a damaged task is no reason to say nothing of the others. */
async function known(find: () => Promise<Meeting>): Promise<Meeting> {
  try {
    return await find()
  } catch (thrown) {
    const error = appError(thrown)
    if (error.kind === 'cancelled') throw error
    return unknown(error.message)
  }
}

/** The files of the work that are otherwise in the checkout than where the work began. */
async function changedThere(
  ground: TrialPorts,
  { repo, checkout, changes }: OfferedTask,
  { conflicts, moved }: Attempt,
): Promise<string[]> {
  const found = await ground.contents.capture(repo, checkout, changes.keys())
  const differing = Array.from(changes).filter(([file, { from, to }]) => {
    const there = found.get(file)
    const leaf = there?.kind === 'file' ? there.leaf : null
    // A missing file that lands all the same is one that a sparse checkout leaves out.
    const isLeftOut = there?.kind === 'gone' && from && to && conflicts.length === 0 && moved.get(file)
    return !isLeftOut && !isSame(leaf, from)
  })
  return differing.map(([file]) => toText(file))
}

/** As if a fresh checkout of the target branch were landed in. */
async function againstTarget(trial: TrialPorts, offered: OfferedTask): Promise<Meeting> {
  const { task, repo, checkout } = offered
  const { branch } = task.base
  if (branch === null) return unknown('The task was not started from a branch.')
  const commit = await trial.refs.findRef(repo.place, branchRef(branch))
  if (commit === undefined) return unknown(`There is no branch ${branch}.`)
  const ground = onTree(trial, repo, checkout, await targetTree(trial, offered, commit))
  const tried = await attempt(ground, offered)
  return meeting(await changedThere(ground, offered, tried), tried.conflicts)
}

/** The tree of the branch with the bytes of a checkout, as far as the landing may read them. */
async function targetTree(
  { contents, publishing, seeding, layOut }: TrialPorts,
  { task, repo, offer, changes }: OfferedTask,
  commit: string,
): Promise<string> {
  const [start, now] = [
    await publishing.readTree(repo, task.base.commit),
    await publishing.readTree(repo, commit),
  ]
  const added = Array.from(await contents.compare(repo, start, now)).filter(([, { from }]) => !from)
  const files = new Set([...changes.keys(), ...added.map(([path]) => path)])
  const attributes = new Map<BytePath, Leaf | undefined>()
  let [hasAny, areNew] = [false, false]
  for (const file of attributeFiles(files)) {
    const leaf = await contents.findLeaf(repo, now, file)
    attributes.set(file, leaf)
    hasAny ||= leaf !== undefined
    areNew ||= !isSame(leaf, await contents.findLeaf(repo, start, file))
  }
  // The task itself began with the bytes of its commit, or there is nothing that converts.
  if (offer.first.tree === start ? !areNew : !hasAny && (await seeding.isPlain(repo, task))) return now
  const folder = await layOut(attributes)
  const raw = new Map<BytePath, Leaf>()
  for (const file of files) {
    const stored = await contents.findLeaf(repo, now, file)
    if (stored) raw.set(file, await publishing.smudge(repo, task, folder, file, stored))
  }
  return contents.change(repo, now, raw)
}

/** A task on a shadow branch meets the changes of the user's that were put away when it started. */
async function againstPutAway(trial: TrialPorts, offered: OfferedTask): Promise<Meeting> {
  const { task, repo, offer, changes } = offered
  const parked = await findOperation(trial, repo, task.shadow?.operation ?? '')
  if (!parked?.files) return unknown(`What was put away for ${task.id} is gone.`)
  const own = new Map(parked.files.moves.map(({ path, from }) => [path, from]))
  const ours = await trial.contents.change(repo, offer.base, own)
  const { conflicts } = await trial.contents.merge(repo, {
    base: offer.base,
    ours,
    theirs: offer.theirs,
    labels: ['yours', task.id],
  })
  return meeting(sharedPaths(changes.keys(), own.keys()).map(toText), [...offered.unsolved, ...conflicts])
}

/** `one` is the older task. Both are tried in the checkout if each lands there by itself. */
export async function tryPair(
  trial: TrialPorts,
  ground: TrialPorts,
  one: Judged,
  other: Judged,
): Promise<PairForecast> {
  const [first, second] = [one.offered, other.offered]
  let names = { first: first.task.id, second: second.task.id }
  const isThere = one.landed !== undefined && other.landed !== undefined && first.checkout === second.checkout
  const files = [...new Set(sharedPaths(pathsOf(other), pathsOf(one)))].map(toText)
  const met = await known(async () => {
    if (isThere) {
      const moved = one.landed?.moved ?? new Map()
      const after = afterLanding(ground, first.repo, first.checkout, moved)
      return meeting(files, (await attempt(after, second)).conflicts)
    }
    const forth = await tryOnStart(trial, first, second)
    if (forth) return meeting(files, forth)
    const back = await tryOnStart(trial, second, first)
    if (!back) return unknown('One of them has to be updated first.')
    names = { first: second.task.id, second: first.task.id }
    return meeting(files, back)
  })
  return { ...names, ...met, files, on: isThere ? 'checkout' : 'start' }
}

/** All files that the task changes, by the names that they have in its work and in the checkout. */
export function pathsOf({ offered, landed }: Judged): BytePath[] {
  return [...offered.changes.keys(), ...(landed?.moved.keys() ?? [])]
}

/** The conflicts of `second` after `first`, both on the files that `second` began with; undefined when `first` does not land there. */
async function tryOnStart(
  trial: TrialPorts,
  first: OfferedTask,
  second: OfferedTask,
): Promise<readonly Conflict[] | undefined> {
  const { repo, checkout, offer } = second
  const start = onTree(trial, repo, checkout, offer.base)
  const { conflicts, moved } = await attempt(start, { ...first, repo, checkout })
  if (conflicts.length > 0) return undefined
  return (await attempt(afterLanding(start, repo, checkout, moved), second)).conflicts
}
