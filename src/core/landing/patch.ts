/** Landing as uncommitted, unstaged changes: three ways from the recorded base, whatever the user has done since. */
import path from 'node:path'
import { type BytePath, fromText, toText } from '../model/bytes.ts'
import { isSame } from '../model/leaf.ts'
import type { FileMove } from '../model/operation.ts'
import type { Conflict, Found, Leaf, LeafChange, Merged } from '../model/tree.ts'
import { strategyFacts } from '../model/strategies.ts'
import { closeLanded } from './close.ts'
import { mergeStored } from './merge-stored.ts'
import { asFound, knownOf, obstacles, readSurroundings, type Surroundings } from './obstacles.ts'
import { withoutPointers } from './offer.ts'
import type { LandingStrategy, LandingWork } from './strategy.ts'

export const patch: LandingStrategy<'patch'> = {
  ...strategyFacts.patch,
  name: 'patch',
  fit: ({ ports, repo, offer }) => withoutPointers(ports, repo, offer),
  async plan(work) {
    const { moves, conflicts, marked } = patchPlan(await gather(work))
    return { conflicts, marked, refs: [], files: { checkout: checkoutOf(work), moves }, landed: {} }
  },
  close: closeLanded,
}

/** All that decides what a patch writes. */
export interface PatchGathered {
  /** From the files of the checkout to what the merge makes of them. */
  readonly planned: ReadonlyMap<BytePath, LeafChange>
  readonly around: Surroundings
  /** Files that a sparse checkout leaves out. */
  readonly leftOut: ReadonlySet<BytePath>
  /** The conflicts of the merge. */
  readonly conflicts: readonly Conflict[]
  /** Of the paths in conflict, those that the index knows. */
  readonly tracked: ReadonlySet<string>
  /** Of the paths in conflict, those whose merged text shows both sides; none unless markers were asked for. */
  readonly markable: ReadonlySet<string>
}

export interface PatchPlan {
  readonly moves: readonly FileMove[]
  /** Nothing may be written as long as there is one. */
  readonly conflicts: readonly Conflict[]
  /** Conflicts that the moves write as markers, for the user to solve. */
  readonly marked: readonly Conflict[]
}

/** What a patch writes, or why it cannot. Pure. */
export function patchPlan(gathered: PatchGathered): PatchPlan {
  const { planned, around, leftOut, tracked, markable } = gathered
  const moves = Array.from(planned, ([file, { from, to }]): FileMove => {
    return { path: file, from: leftOut.has(file) ? null : asFound(from, around.found.get(file)), to }
  })
  // A file that git does not know is not a side of a merge: it is in the way.
  const conflicts = gathered.conflicts.map((conflict): Conflict => {
    const isUnknown = conflict.kind === 'add/add' && !tracked.has(conflict.path)
    return isUnknown ? { ...conflict, kind: 'untracked' } : conflict
  })
  const isMarked = (conflict: Conflict) => isText(conflict) && markable.has(conflict.path)
  // The file is not there anyway: only a commit can say that it is deleted.
  const undeletable = moves
    .filter((move) => leftOut.has(move.path) && move.to === null)
    .map((move): Conflict => ({ path: toText(move.path), kind: 'delete/modify' }))
  return {
    moves,
    conflicts: [
      ...conflicts.filter((conflict) => !isMarked(conflict)),
      ...obstacles(planned, around),
      ...undeletable,
    ],
    marked: conflicts.filter(isMarked),
  }
}

/** Of all other kinds git keeps one side, and nothing in the file shows the other. */
function isText({ kind }: Conflict): boolean {
  return kind === 'content' || kind === 'add/add'
}

function checkoutOf({ repo, task }: LandingWork): string {
  return repo.place.checkout ?? task.origin
}

async function gather(work: LandingWork): Promise<PatchGathered> {
  const { ports, repo, offer, input } = work
  const checkout = checkoutOf(work)
  const changes = await ports.contents.compare(repo, offer.base, offer.theirs)
  const found = await ports.contents.capture(repo, checkout, changes.keys(), knownOf(changes))
  const leftOut = await readLeftOut(work, changes, found)
  const { ours, merged } = await mergeWith(work, found, leftOut)
  const planned = await ports.contents.compare(repo, ours, merged.tree)
  const around = await readSurroundings(ports, repo, checkout, planned, found)
  const { conflicts } = merged
  const entries =
    conflicts.length === 0
      ? new Map<BytePath, Leaf>()
      : await ports.checkouts.readTracked(repo.place.gitDir, [...found.keys()])
  return {
    planned,
    around,
    leftOut: new Set(leftOut.keys()),
    conflicts,
    tracked: new Set(Array.from(entries.keys(), toText)),
    markable: input.conflicts === 'markers' ? await readMarkable(work, merged) : new Set(),
  }
}

/** The files of the checkout and the work, merged: as few files are looked at as will do. */
async function mergeWith(
  work: LandingWork,
  found: ReadonlyMap<BytePath, Found>,
  leftOut: ReadonlyMap<BytePath, Leaf>,
): Promise<{ ours: string; merged: Merged }> {
  const { ports, repo, task, signal } = work
  const { base, theirs } = work.offer
  const { contents } = ports
  const checkout = checkoutOf(work)
  const there = Array.from(found, ([file, it]) => [file, it.kind === 'file' ? it.leaf : null] as const)
  const present = new Map<BytePath, Leaf | null>([...there, ...leftOut])
  const ours = await contents.change(repo, base, present)
  // Most often the user has touched none of these files: then there is nothing to merge, and no rule to ask for.
  const attributes =
    ours === base
      ? undefined
      : await ports.checkouts.readMergeRules(checkout, repo.place.gitDir, [...found.keys()])
  const sides = { base, theirs, labels: ['yours', task.id] as const, attributes }
  const merged = await contents.merge(repo, { ...sides, ours }, signal)
  if (merged.conflicts.length === 0) return { ours, merged }
  // A file that the user renamed looks deleted as long as only the concerned paths are looked at.
  // What is ignored is not among all, but it may be in the way: what was found at those paths counts.
  const all = await contents.change(repo, await contents.captureAll(repo, checkout, signal), present)
  const again = await contents.merge(repo, { ...sides, ours: all }, signal)
  if (again.conflicts.length === 0) return { ours: all, merged: again }
  return {
    ours,
    merged: await mergeStored({ ports, repo, task, signal }, checkout, { ...sides, ours }, merged),
  }
}

/** Of what is no text, and of what is there on one side only, git keeps one side: nothing in it shows the other. */
async function readMarkable({ ports, repo }: LandingWork, merged: Merged): Promise<Set<string>> {
  const markable = new Set<string>()
  for (const { path: file } of merged.conflicts.filter(isText)) {
    const leaf = await ports.contents.findLeaf(repo, merged.tree, fromText(file))
    if (!leaf?.mode.startsWith('100')) continue
    const content = (await ports.contents.readContent(repo, leaf)).toString('latin1')
    if (/^<{7} yours(:.*)?$[^]*^={7}$[^]*^>{7} /m.test(content)) markable.add(file)
  }
  return markable
}

/** What a sparse checkout leaves out, as it would lie there: it is unchanged, not deleted. */
async function readLeftOut(
  work: LandingWork,
  changes: ReadonlyMap<BytePath, LeafChange>,
  found: ReadonlyMap<BytePath, Found>,
): Promise<Map<BytePath, Leaf>> {
  const { ports, repo, task, offer } = work
  const leftOut = new Map<BytePath, Leaf>()
  const { gitDir } = repo.place
  // Most often what is not there is new, and nothing is left out: then there is nothing to ask for.
  const isSparse = (await ports.files.readKind(path.join(gitDir, 'info', 'sparse-checkout'))) !== undefined
  const gone = [...changes].flatMap(([file, { from }]) =>
    found.get(file)?.kind === 'gone' && (from || isSparse) ? [file] : [],
  )
  if (gone.length === 0) return leftOut
  const start = await ports.publishing.readTree(repo, task.base.commit)
  for (const [file, entry] of await ports.checkouts.readTracked(gitDir, gone)) {
    if (!entry.isLeftOut || !found.has(file)) continue
    const stored = await ports.contents.findLeaf(repo, start, file)
    const raw = isSame(stored, entry)
      ? await ports.contents.findLeaf(repo, offer.first.tree, file)
      : undefined
    leftOut.set(file, raw ?? (await ports.publishing.smudge(repo, task, checkoutOf(work), file, entry)))
  }
  return leftOut
}
