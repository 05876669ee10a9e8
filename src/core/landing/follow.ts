/** Moves the files and the index of a checkout along when commits land on its branch. */
import type { Work } from '../tasks/work.ts'
import { eachOf } from '../base/concurrency.ts'
import { following } from '../base/watch.ts'
import { type BytePath, toText } from '../model/bytes.ts'
import { isSame } from '../model/leaf.ts'
import type { FileMove } from '../model/operation.ts'
import type { Conflict, Found, IndexMove, Leaf, LeafChange, Tracked } from '../model/tree.ts'
import type { Place, Repo } from '../model/repo.ts'
import type { Worktree } from '../model/git.ts'
import { withPermissions, obstacles, readSurroundings } from './obstacles.ts'
import type { Landing } from './strategy.ts'

export function placeOf({ commonDir }: Repo, { path: checkout, name }: Worktree): Place {
  return { commonDir, gitDir: name === null ? commonDir : `${commonDir}/worktrees/${name}`, checkout }
}

interface Followed {
  /** The tree of the branch before and after. */
  readonly before: string
  readonly after: string
  /** The bytes of a file for the checkout, from the form that git stores. */
  raw(checkout: string, file: BytePath, to: Leaf): Promise<Leaf>
}

/** Plans the moves. A file that the user has changed is a conflict, and then nothing may be written. */
export async function follow(
  work: Work,
  checkedOut: Worktree,
  { before, after, raw }: Followed,
): Promise<Pick<Landing, 'files' | 'index' | 'conflicts'>> {
  const { ports, repo, task, signal } = work
  const { path: checkout } = checkedOut
  const { gitDir } = placeOf(repo, checkedOut)
  const changes = await ports.contents.compare(repo, before, after)
  const paths = [...changes.keys()]
  const found = await ports.contents.capture(repo, checkout, paths, undefined, following(work, 'checking'))
  const present = new Map(
    Array.from(found, ([file, there]) => [file, { from: null, to: leafIn(there) }] as const),
  )
  const stored = await ports.publishing.clean(repo, task, present, signal)
  const tracked = await ports.checkouts.readTracked(gitDir, [...paths, ...paths.flatMap(parentsOf)])
  const plan = followPlan({ changes, found, stored, tracked })
  const moves: FileMove[] = []
  const convert = async (move: FileMove) => {
    moves.push({ ...move, to: move.to && (await raw(checkout, move.path, move.to)) })
  }
  await eachOf(plan.files, 1, convert, { signal })
  const written = new Map(moves.map((move) => [move.path, move]))
  const around = await readSurroundings(work, checkout, written, found)
  const known = new Set(plan.conflicts.map((conflict) => conflict.path))
  const inTheWay = obstacles(written, around).filter((conflict) => !known.has(conflict.path))
  return {
    conflicts: [...plan.conflicts, ...inTheWay],
    files: { checkout, moves },
    index: { gitDir, moves: plan.index },
  }
}

/** The state of a checkout at the paths that change with its branch. */
export interface FollowGathered {
  /** The changes of the branch, as git stores them. */
  readonly changes: ReadonlyMap<BytePath, LeafChange>
  readonly found: ReadonlyMap<BytePath, Found>
  /** The files of the checkout, as git would store them. */
  readonly stored: ReadonlyMap<BytePath, Leaf | null>
  /** The entries of the index: at these paths, above them and below them. */
  readonly tracked: ReadonlyMap<BytePath, Tracked>
}

export interface FollowPlan {
  readonly conflicts: readonly Conflict[]
  readonly index: readonly IndexMove[]
  /** The files to write, in the form that git stores. */
  readonly files: readonly FileMove[]
}

/** Decides what moves and what conflicts. Pure. */
export function followPlan(gathered: FollowGathered): FollowPlan {
  const { changes, tracked } = gathered
  const followed = Array.from(changes, ([file, change]) => followFile(file, change, gathered))
  return {
    conflicts: [
      ...followed.flatMap(({ conflict }) => conflict ?? []),
      ...stagedInTheWay(changes, tracked).map((file) => ({ path: toText(file), kind: 'changed' }) as const),
    ],
    index: followed.flatMap(({ index }) => index ?? []),
    files: followed.flatMap(({ file }) => file ?? []),
  }
}

interface FollowedFile {
  readonly conflict?: Conflict
  readonly index?: IndexMove
  readonly file?: FileMove
}

/** Index and file must both equal the old version of the branch; then both become the new one. */
function followFile(
  path: BytePath,
  { from, to }: LeafChange,
  { found, stored, tracked }: FollowGathered,
): FollowedFile {
  const [there, entry] = [found.get(path), tracked.get(path) ?? null]
  // As in git, the folder of a submodule does not matter here, only the pointer in the index.
  const isModule = from?.mode === '160000' && there?.kind !== 'file'
  const isLeftOut = there?.kind === 'gone' && entry?.isLeftOut === true
  const now = isModule || isLeftOut ? from : (stored.get(path) ?? null)
  if (!isSame(now, from) || !isSame(entry, from))
    return { conflict: { path: toText(path), kind: from || entry ? 'changed' : 'untracked' } }
  const index = { path, from: entry, to: to && (isLeftOut ? { ...to, isLeftOut } : to) }
  if (isLeftOut || (isModule && (to === null || to.mode === '160000'))) return { index }
  return { index, file: { path, from: withPermissions(leafIn(there), there), to } }
}

function leafIn(there: Found | undefined): Leaf | null {
  return there?.kind === 'file' ? there.leaf : null
}

/** Entries of the index that would stay although a new file replaces their folder, or a new folder replaces them. */
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

function parentsOf(file: BytePath): BytePath[] {
  const parts = file.split('/')
  return parts.slice(1).map((_, count) => parts.slice(0, count + 1).join('/'))
}
