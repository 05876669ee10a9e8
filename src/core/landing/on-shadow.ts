/**
 * Wraps a strategy for a task that works in the user's own checkout (docs/adr/0017-a-shadow-branch-is-an-operation.md): the
 * landing also puts the checkout back on its branch, with the work and the changes that the user had at the start.
 */
import { AppError } from '../model/errors.ts'
import { goalAt, type Leaving, leaving } from '../operations/shadow.ts'
import { branchRef } from '../model/refs.ts'
import type { Landing, LandingStrategy, LandingWork } from './strategy.ts'

export function onShadow<Name extends string>(strategy: LandingStrategy<Name>): LandingStrategy<Name> {
  // The work is in the checkout already, submodule pointers included, so nothing has to be left out.
  return { ...strategy, fit: undefined, plan: (work) => plans[strategy.lands](strategy, work) }
}

const plans: Record<
  LandingStrategy['lands'],
  (strategy: LandingStrategy, work: LandingWork) => Promise<Landing>
> = {
  async files(_, work) {
    if (closesTask(work)) return planFiles(work)
    throw new AppError(
      'wrongUsage',
      `${work.task.id} works in this checkout, so part of it can only land as a commit.`,
      {
        hint: 'Use --as squash, or land all of it.',
      },
    )
  },
  async commit(strategy, work) {
    const landing = await strategy.plan(work)
    if (!closesTask(work) || landing.conflicts.length > 0) return landing
    const isBase = landing.onto === work.task.base.branch
    const { ports, repo, task } = work
    return joinLeaving(landing, await leaving({ ports, repo, task }, isBase ? landing.goal : undefined))
  },
  async branch(strategy, work) {
    const landing = await strategy.plan(work)
    const { ports, repo, task } = work
    return closesTask(work) ? joinLeaving(landing, await leaving({ ports, repo, task })) : landing
  },
}

/** Whether the landing closes the task, which puts the checkout back on its branch. */
function closesTask({ offer, input }: LandingWork): boolean {
  return offer.whole && !input.keep
}

function joinLeaving(landing: Landing, left: Leaving): Landing {
  const conflicts = [...landing.conflicts, ...left.conflicts]
  return { ...landing, ...left, conflicts, refs: [...landing.refs, ...left.refs] }
}

/** Merges the work with the user's uncommitted changes, as uncommitted changes of one checkout. */
async function planFiles({ ports, repo, task, offer, signal }: LandingWork): Promise<Landing> {
  const { first, theirs } = offer
  const tip = await ports.refs.findRef(repo.place, branchRef(task.base.branch ?? ''), signal)
  const now = await goalAt({ ports, repo, task }, first, tip ?? task.base.commit)
  const sides = { base: first.tree, ours: now.raw, theirs, labels: ['yours', task.id] as const }
  const merged = await ports.contents.merge(repo, sides, signal)
  const left = await leaving({ ports, repo, task }, { ...now, raw: merged.tree })
  return { ...left, conflicts: [...merged.conflicts, ...left.conflicts], landed: {} }
}
