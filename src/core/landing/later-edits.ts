/** Fits the undo of a landing to later changes of the user: edited files, a branch that another checkout has now. */
import type { Work } from '../tasks/work.ts'
import { following } from '../base/watch.ts'
import { type BytePath, toText } from '../model/bytes.ts'
import { conflictError } from '../model/errors.ts'
import { isSame } from '../model/leaf.ts'
import type { FileMove, Operation } from '../model/operation.ts'
import { overlaps } from '../operations/files.ts'
import type { Leaf } from '../model/tree.ts'
import { branchOf, branchRef } from '../model/refs.ts'
import { requireUnheld } from './commit-build.ts'
import { follow } from './follow.ts'
import { withPermissions, obstacles, readSurroundings } from './obstacles.ts'

/**
 * The undo moves the branch back, and with it the files and the index of the checkout that has the branch now, which may
 * be another one than at the time of the landing.
 */
export async function whereItIsNow(work: Work, back: Operation): Promise<Operation> {
  const { ports, repo, task } = work
  const moved = back.refs.find((change) => change.old !== null && change.new !== null)
  if (!moved?.old || !moved.new || back.head) return back
  const name = branchOf(moved.ref)
  if (name !== undefined) await requireUnheld(ports, repo, name)
  const worktrees = await ports.git.readWorktrees(repo.place)
  const checkedOut = worktrees.find(({ branch }) => branch !== null && branchRef(branch) === moved.ref)
  if (checkedOut?.path === back.files?.checkout) return back
  if (!checkedOut) return { ...back, files: undefined, index: undefined }
  const [before, after] = [
    await ports.publishing.readTree(repo, moved.old),
    await ports.publishing.readTree(repo, moved.new),
  ]
  const raw = (checkout: string, file: BytePath, to: Leaf) =>
    ports.publishing.smudge(repo, task, checkout, file, to)
  const { conflicts, files, index } = await follow(work, checkedOut, { before, after, raw })
  if (conflicts.length > 0) throw conflictError(conflicts, overlaps, checkedOut.path)
  return { ...back, files, index }
}

/**
 * The undo of a run without the files of the checkout that are no longer as the run left them; `left` names those. Nobody
 * knows whose edits they are, so none is merged.
 */
export async function withoutEdited(
  { ports, repo }: Omit<Work, 'task'>,
  back: Operation,
): Promise<{ back: Operation; left: readonly string[] }> {
  if (!back.files) return { back, left: [] }
  const { checkout, moves } = back.files
  const known = new Map(moves.map(({ path, from, to }) => [path, [from, to]]))
  const found = await ports.contents.capture(repo, checkout, known.keys(), known)
  const isAsLeft = ({ path, from }: FileMove) => {
    const there = found.get(path)
    if (from === null) return there?.kind === 'gone' && there.blockedBy === undefined
    return there?.kind === 'file' && isSame(there.leaf, from)
  }
  const left = moves.filter((move) => !isAsLeft(move)).map(({ path }) => toText(path))
  const { refs, strays = [], index } = back
  if (left.length === moves.length && refs.length + strays.length === 0 && !index)
    throw conflictError(
      left.map((path) => ({ path, kind: 'changed' })),
      'They are no longer as the run left them, so they stay as they are.',
      checkout,
    )
  const fits = moves.filter(isAsLeft)
  return { back: { ...back, files: fits.length > 0 ? { checkout, moves: fits } : undefined }, left }
}

/** Merges later edits of the user in the same files with the undo. */
export async function withLaterEdits(work: Omit<Work, 'task'>, back: Operation): Promise<Operation> {
  if (!back.files) return back
  const { ports, repo, signal } = work
  const { contents } = ports
  const { checkout, moves } = back.files
  const found = await contents.capture(
    repo,
    checkout,
    moves.map((move) => move.path),
    undefined,
    following(work, 'checking'),
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
  const merged = await contents.merge(repo, { base, ours, theirs, labels: ['yours', 'before'] }, signal)
  const planned = await contents.compare(repo, ours, merged.tree)
  const conflicts = [
    ...merged.conflicts,
    ...obstacles(planned, await readSurroundings(work, checkout, planned)),
  ]
  if (conflicts.length > 0) throw conflictError(conflicts, overlaps, checkout)
  const wanted = new Map(moves.map((move) => [move.path, move.to]))
  const fits = Array.from(planned, ([file, { from, to }]): FileMove => {
    const known = wanted.get(file)
    const same = known && isSame(known, to)
    return { path: file, from: withPermissions(from, found.get(file)), to: same ? known : to }
  })
  return { ...back, files: { checkout, moves: fits } }
}
