/** Finds out where the work of an accepted task went, from the record of its accept. */
import { branchOf } from '../model/refs.ts'
import type { Operation } from '../model/operation.ts'
import { findOperation } from '../operations/kept.ts'
import { operationsOf } from '../operations/known.ts'
import type { Work } from '../tasks/work.ts'

export interface LandedIn {
  readonly operation: string
  /** The branch that was moved, and where to. */
  readonly branch?: string | undefined
  readonly commit?: string | undefined
  /** The checkout whose files were written. */
  readonly checkout?: string
}

/** Undefined for a task that is not accepted, or whose record the trash has let go of. */
export async function findLandedIn({ ports, repo, task }: Work): Promise<LandedIn | undefined> {
  if (task.state !== 'accepted') return undefined
  const accepts = (await operationsOf(ports, repo)).filter(
    ({ verb, undone, task: id }) => verb === 'accept' && !undone && id === task.id,
  )
  for (const { id } of accepts) {
    const operation = await findOperation(ports, repo, id)
    if (operation?.task === task.uid) return landedIn(operation)
  }
  return undefined
}

/** Pure. */
function landedIn({ id, refs, files }: Operation): LandedIn {
  const moved = refs.find(
    ({ ref, old, new: to }) => old !== null && to !== null && branchOf(ref) !== undefined,
  )
  return {
    operation: id,
    ...(moved && { branch: branchOf(moved.ref), commit: moved.new ?? undefined }),
    ...(files && { checkout: files.checkout }),
  }
}
