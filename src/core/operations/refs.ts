/** The refs of an operation, the only part that can be refused: somebody else may have moved them. */
import { AppError } from '../model/errors.ts'
import type { RefChange } from '../model/git.ts'
import type { Operation } from '../model/operation.ts'
import type { Repo } from '../model/repo.ts'
import { branchOf, isOurs } from '../model/refs.ts'
import type { Ports } from '../ports/index.ts'

interface RefsSeen {
  /** Changes that are still to be made. */
  readonly open: readonly RefChange[]
  /** Refs with neither the old nor the new value, because somebody else moved them. */
  readonly moved: readonly RefChange[]
  /** The operation has moved some refs, so it can no longer be taken back. */
  readonly begun: boolean
}

export async function lookAtRefs(
  { refs }: Pick<Ports, 'refs'>,
  repo: Repo,
  operation: Operation,
): Promise<RefsSeen> {
  const [open, moved]: [RefChange[], RefChange[]] = [[], []]
  let begun = false
  for (const change of operation.refs) {
    const now = (await refs.findRef(repo.place, change.ref)) ?? null
    // Nobody else deletes refs of ours; a branch may have been deleted by its user.
    if (now === change.new) begun ||= now !== null || isOurs(change.ref)
    else if (now === change.old) open.push(change)
    else {
      moved.push(change)
      begun ||= await refs.isInReflog(repo.place, change.ref, refMessage(operation))
    }
  }
  return { open, moved, begun }
}

/** The new commit of the first branch that is not deleted. Branches that land come before those of closed tasks. */
export function movedTo({ refs }: Pick<Operation, 'refs'>): string | undefined {
  return refs.find(({ ref, new: to }) => branchOf(ref) !== undefined && to !== null)?.new ?? undefined
}

function refMessage({ verb, id, batch }: Operation): string {
  return `offshoot: ${verb} ${batch ?? id}`
}

/**
 * Moves all refs at once; throws when somebody else has moved one. If the operation had begun to move them before, a ref
 * that somebody moved since stays, and the answer is false. With a change of HEAD, `moveHead` deletes the old branch later.
 */
export async function moveRefs(ports: Pick<Ports, 'refs'>, repo: Repo, whole: Operation): Promise<boolean> {
  const refs = whole.refs.filter((change) => !whole.head || change.new !== null)
  const operation = { ...whole, refs }
  const ours = operation.refs.map(({ ref }) => ref).filter(isOurs)
  await ports.refs.clearRefLocks(repo.place, ours)
  const { open, moved, begun } = await lookAtRefs(ports, repo, operation)
  if (moved.length > 0 && !begun) throw overtaken(moved)
  if (open.length > 0 && !(await ports.refs.changeRefs(repo.place, open, refMessage(operation))))
    throw overtaken(open)
  return moved.length === 0
}

/** Moves HEAD before the old branch is deleted, so that a checkout is never on a missing branch. */
export async function moveHead(
  ports: Pick<Ports, 'git' | 'refs'>,
  repo: Repo,
  operation: Operation,
  { gitDir, to }: NonNullable<Operation['head']>,
): Promise<void> {
  await ports.git.moveHead({ ...repo.place, gitDir }, to, refMessage(operation))
  const refs = operation.refs.filter((change) => change.new === null)
  const { open } = await lookAtRefs(ports, repo, { ...operation, refs })
  if (open.length > 0) await ports.refs.changeRefs(repo.place, open, refMessage(operation))
}

/** The hint where somebody else was faster. */
export const repeatHint = 'Repeat the command.'

export function overtaken(refs: readonly RefChange[]): AppError {
  const conflicts = refs.map(({ ref }) => ({ path: ref, kind: 'changed' as const }))
  return new AppError(
    'conflict',
    `${refs.map(({ ref }) => ref).join(', ')} moved meanwhile. Nothing was written.`,
    {
      hint: repeatHint,
      data: { conflicts },
    },
  )
}
