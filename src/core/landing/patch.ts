/** The strategy `patch`: lands as uncommitted, unstaged changes, by a three-way merge with the files of the checkout. */
import path from 'node:path'
import { following } from '../base/watch.ts'
import { type BytePath, fromText, toText } from '../model/bytes.ts'
import { isSame } from '../model/leaf.ts'
import type { FileMove } from '../model/operation.ts'
import type { Repo } from '../model/repo.ts'
import { strategyFacts } from '../model/strategies.ts'
import type { Conflict, Found, Leaf, LeafChange, Merged } from '../model/tree.ts'
import type { Ports } from '../ports/index.ts'
import { closeLanded } from './close.ts'
import { mergeStored } from './merge-stored.ts'
import { knownOf, obstacles, readSurroundings, type Surroundings, withPermissions } from './obstacles.ts'
import type { Offer } from './offer.ts'
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

/** The facts from which `patchPlan` decides. */
export interface PatchGathered {
  /** The change of each file, from the checkout as it is to the merged one. */
  readonly planned: ReadonlyMap<BytePath, LeafChange>
  /** Deleted files that look deleted in the checkout, too, but only because something is in the place of their folder. */
  readonly blocked: ReadonlyMap<BytePath, LeafChange>
  readonly around: Surroundings
  /** Files that a sparse checkout leaves out. */
  readonly leftOut: ReadonlySet<BytePath>
  /** The conflicts of the merge. */
  readonly conflicts: readonly Conflict[]
  /** The conflicting paths that the index has. */
  readonly tracked: ReadonlySet<string>
  /** The conflicting paths whose merged text has markers for both sides; empty unless the user asked for markers. */
  readonly markable: ReadonlySet<string>
}

export interface PatchPlan {
  readonly moves: readonly FileMove[]
  /** If there is one, nothing may be written. */
  readonly conflicts: readonly Conflict[]
  /** Conflicts that the moves write as markers, for the user to solve. */
  readonly marked: readonly Conflict[]
}

/** Decides which files a patch writes, or which conflicts prevent it. Pure. */
export function patchPlan(gathered: PatchGathered): PatchPlan {
  const { planned, blocked: hidden, around, leftOut, tracked, markable } = gathered
  const moves = Array.from(planned, ([file, { from, to }]): FileMove => {
    return { path: file, from: leftOut.has(file) ? null : withPermissions(from, around.found.get(file)), to }
  })
  // An untracked file is no side of a merge: it is in the way.
  const conflicts = gathered.conflicts.map((conflict): Conflict => {
    const isUnknown = conflict.kind === 'add/add' && !tracked.has(conflict.path)
    return isUnknown ? { ...conflict, kind: 'untracked' } : conflict
  })
  const isMarked = (conflict: Conflict) => isText(conflict) && markable.has(conflict.path)
  // A sparse checkout has no such file, so only a commit can delete it.
  const undeletable = moves
    .filter((move) => leftOut.has(move.path) && move.to === null)
    .map((move): Conflict => ({ path: toText(move.path), kind: 'delete/modify' }))
  return {
    moves,
    conflicts: [
      ...conflicts.filter((conflict) => !isMarked(conflict)),
      ...obstacles(new Map([...hidden, ...planned]), around),
      ...undeletable,
    ],
    marked: conflicts.filter(isMarked),
  }
}

/** Whether markers can show the conflict. For other kinds git keeps one side, and the file shows nothing of the other. */
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
  const found = await ports.contents.capture(
    repo,
    checkout,
    changes.keys(),
    knownOf(changes),
    following(work, 'checking'),
  )
  const leftOut = await readLeftOut(work, changes, found)
  const { ours, merged } = await mergeWith(work, found, leftOut)
  const planned = await ports.contents.compare(repo, ours, merged.tree)
  const around = await readSurroundings(
    work,
    checkout,
    new Map([...blocked(changes, found), ...planned]),
    found,
  )
  const { conflicts } = merged
  const entries =
    conflicts.length === 0
      ? new Map<BytePath, Leaf>()
      : await ports.checkouts.readTracked(repo.place.gitDir, [...found.keys()])
  return {
    planned,
    blocked: blocked(changes, found),
    around,
    leftOut: new Set(leftOut.keys()),
    conflicts,
    tracked: new Set(Array.from(entries.keys(), toText)),
    markable: input.conflicts === 'markers' ? await readMarkable(work, merged) : new Set(),
  }
}

function blocked(
  changes: ReadonlyMap<BytePath, LeafChange>,
  found: ReadonlyMap<BytePath, Found>,
): ReadonlyMap<BytePath, LeafChange> {
  return new Map(
    [...changes].filter(([file, { to }]) => {
      const there = found.get(file)
      return to === null && there?.kind === 'gone' && there.blockedBy !== undefined
    }),
  )
}

/** Merges the work with the files of the checkout, and reads as few files as possible. */
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
  // Most often the user has touched none of these files; then no merge rule is needed.
  const attributes =
    ours === base
      ? undefined
      : await ports.checkouts.readMergeRules(checkout, repo.place.gitDir, [...found.keys()])
  const sides = { base, theirs, labels: ['yours', task.id] as const, attributes }
  const merged = await contents.merge(repo, { ...sides, ours }, signal)
  if (merged.conflicts.length === 0) return { ours, merged }
  // A file that the user renamed looks deleted until all files of the checkout are read. `captureAll` skips ignored
  // files, which may still be in the way, so the files found at the changed paths are put on top.
  const all = await contents.change(
    repo,
    await contents.captureAll(repo, checkout, following(work, 'reading')),
    present,
  )
  const again = await contents.merge(repo, { ...sides, ours: all }, signal)
  if (again.conflicts.length === 0) return { ours: all, merged: again }
  return {
    ours,
    merged: await mergeStored({ ports, repo, task, signal }, checkout, { ...sides, ours }, merged),
  }
}

/** Finds the conflicts with markers in the merged text. Of a binary or one-sided file git keeps one side without markers. */
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

/** The files that a sparse checkout leaves out, with the bytes they would have: they are unchanged, not deleted. */
async function readLeftOut(
  work: LandingWork,
  changes: ReadonlyMap<BytePath, LeafChange>,
  found: ReadonlyMap<BytePath, Found>,
): Promise<Map<BytePath, Leaf>> {
  const { ports, repo, task, offer } = work
  const leftOut = new Map<BytePath, Leaf>()
  const { gitDir } = repo.place
  // Without sparse-checkout a missing file without `from` is a new one; then the index need not be read.
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

/** The offer without changed submodule pointers, which only a commit or an index can hold. They stay to be landed. */
async function withoutPointers(ports: Pick<Ports, 'contents'>, repo: Repo, offer: Offer): Promise<Offer> {
  const changes = await ports.contents.compare(repo, offer.base, offer.theirs)
  const pointers = [...changes].filter(([, { from, to }]) =>
    [from, to].some((leaf) => leaf?.mode === '160000'),
  )
  if (pointers.length === 0) return offer
  const back = new Map(pointers.map(([file, { from }]) => [file, from]))
  return { ...offer, theirs: await ports.contents.change(repo, offer.theirs, back), whole: false }
}
