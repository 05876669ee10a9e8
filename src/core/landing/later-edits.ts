/** Fits the undo of a landing to later changes of the user: edited files, a branch that another checkout has now. */
import type { Work } from '../tasks/work.ts'
import type { BytePath } from '../model/bytes.ts'
import { conflictError } from '../model/errors.ts'
import { isSame } from '../model/leaf.ts'
import type { FileMove, Operation } from '../model/operation.ts'
import { overlaps } from '../operations/fits.ts'
import type { Leaf } from '../model/tree.ts'
import type { Ports } from '../ports/index.ts'
import type { Repo } from '../model/repo.ts'
import { branchRef } from '../model/refs.ts'
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
  await requireUnheld(ports, repo, moved.ref.slice(branchRef('').length))
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
  if (conflicts.length > 0) throw conflictError(conflicts, overlaps)
  return { ...back, files, index }
}

/** Merges later edits of the user in the same files with the undo. */
export async function withLaterEdits(ports: Ports, repo: Repo, back: Operation): Promise<Operation> {
  if (!back.files) return back
  const { contents } = ports
  const { checkout, moves } = back.files
  const found = await contents.capture(
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
  const conflicts = [
    ...merged.conflicts,
    ...obstacles(planned, await readSurroundings(ports, repo, checkout, planned)),
  ]
  if (conflicts.length > 0) throw conflictError(conflicts, overlaps)
  const wanted = new Map(moves.map((move) => [move.path, move.to]))
  const fits = Array.from(planned, ([file, { from, to }]): FileMove => {
    const known = wanted.get(file)
    const same = known && isSame(known, to)
    return { path: file, from: withPermissions(from, found.get(file)), to: same ? known : to }
  })
  return { ...back, files: { checkout, moves: fits } }
}
