/** The refs of an operation: they alone may be refused, as somebody else has moved them. */
import { AppError } from '../model/errors.ts'
import type { RefChange } from '../model/git.ts'
import type { Operation } from '../model/operation.ts'
import type { Repo } from '../model/repo.ts'
import { branchOf, isOurs } from '../model/refs.ts'
import type { Ports } from '../ports/index.ts'

interface RefsSeen {
  /** Still to be moved. */
  readonly open: readonly RefChange[]
  /** Neither where they were nor where they go: somebody else moved them. */
  readonly moved: readonly RefChange[]
  /** Some have been moved by this operation: it cannot be taken back any more. */
  readonly begun: boolean
}

export async function lookAtRefs({ refs }: Ports, repo: Repo, operation: Operation): Promise<RefsSeen> {
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

/** Where the first branch of them goes that is not deleted. Those that land come before those that are closed. */
export function movedTo({ refs }: Pick<Operation, 'refs'>): string | undefined {
  return refs.find(({ ref, new: to }) => branchOf(ref) !== undefined && to !== null)?.new ?? undefined
}

function refMessage({ verb, id, batch }: Operation): string {
  return `offshoot: ${verb} ${batch ?? id}`
}

/**
 * All at once. One that this operation has moved and somebody else since stays where they moved it: then the answer is
 * no. Where a checkout changes its branch, the one that it is on still goes afterwards.
 */
export async function moveRefs(ports: Ports, repo: Repo, whole: Operation): Promise<boolean> {
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

/** A checkout is never on a branch that is not there. */
export async function moveHead(
  ports: Ports,
  repo: Repo,
  operation: Operation,
  { gitDir, to }: NonNullable<Operation['head']>,
): Promise<void> {
  await ports.git.moveHead({ ...repo.place, gitDir }, to, refMessage(operation))
  const refs = operation.refs.filter((change) => change.new === null)
  const { open } = await lookAtRefs(ports, repo, { ...operation, refs })
  if (open.length > 0) await ports.refs.changeRefs(repo.place, open, refMessage(operation))
}

export function overtaken(refs: readonly RefChange[]): AppError {
  const conflicts = refs.map(({ ref }) => ({ path: ref, kind: 'changed' as const }))
  return new AppError(
    'conflict',
    `${refs.map(({ ref }) => ref).join(', ')} moved meanwhile. Nothing was written.`,
    {
      hint: 'Repeat it.',
      data: { conflicts },
    },
  )
}
