/** What becomes of a task when its work has landed: it is closed, or stays open with less to land. */
import { closing } from '../operations/close.ts'
import type { TaskPatch } from '../model/task.ts'
import type { TaskState } from '../model/enums.ts'
import type { Ending, LandingWork } from './strategy.ts'

/** Closed when all of it has landed, unless the user keeps it open. */
export async function closeLanded(work: LandingWork): Promise<Ending> {
  if (work.offer.whole && !work.input.keep) return closed(work, 'accepted')
  return { refs: [], record: landedRecord(work) }
}

/** The user has the branch itself: it stays when the task is closed. */
export function closeKept(work: LandingWork): Promise<Ending> {
  return closed(work, 'kept')
}

async function closed(work: LandingWork, state: TaskState): Promise<Ending> {
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
