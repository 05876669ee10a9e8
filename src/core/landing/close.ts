/** How a landing ends the task: it is closed, or stays open with less left to land. */
import { closing } from '../operations/close.ts'
import type { TaskPatch } from '../model/task.ts'
import type { TaskState } from '../model/enums.ts'
import type { Ending, LandingWork } from './strategy.ts'

/** Closes the task if all of its work lands, unless the user keeps it open. */
export async function closeLanded(work: LandingWork): Promise<Ending> {
  if (work.offer.whole && !work.input.keep) return closeAs(work, 'accepted')
  return { refs: [], record: landedRecord(work) }
}

/** Closes the task and leaves its branch to the user. */
export function closeKept(work: LandingWork): Promise<Ending> {
  return closeAs(work, 'kept')
}

async function closeAs(work: LandingWork, state: TaskState): Promise<Ending> {
  const { ports, repo, task } = work
  const { refs, workspace, record } = await closing({ ports, repo, task }, state, {
    keepBranch: state === 'kept',
  })
  const { from, to } = landedRecord(work)
  return { refs, workspace, record: { from: { ...record.from, ...from }, to: { ...record.to, ...to } } }
}

function landedRecord({ task, offer }: LandingWork): { from: TaskPatch; to: TaskPatch } {
  return {
    from: { landed: task.landed ?? null },
    to: { landed: { tree: offer.theirs, basis: offer.basis } },
  }
}
