/** Landing as a merge commit: git takes the branch of the task for merged. */
import { strategyFacts } from '../model/strategies.ts'
import { closeLanded } from './close.ts'
import { buildOne, planCommit, type Sides } from './commit-build.ts'
import type { LandingStrategy, LandingWork } from './strategy.ts'

export const merge: LandingStrategy<'merge'> = {
  ...strategyFacts.merge,
  name: 'merge',
  plan: (work) =>
    planCommit(work, {
      build: (sides) =>
        buildOne(work, sides, {
          message: 'mergeMessage',
          merged: (tree) => mergedCommit(work, sides, tree),
        }),
      tells: { name: 'post-merge', args: ['0'] },
    }),
  close: closeLanded,
}

/**
 * The commit that git is to take for merged: all steps, or of a part just that part. The branch of a task that began with
 * uncommitted changes of the user holds those as well, and they are the user's to commit: then it is the work alone, on
 * top of the target.
 */
async function mergedCommit(work: LandingWork, sides: Sides, merged: string): Promise<string> {
  const { repo, task, offer, signal } = work
  const { publishing } = work.ports
  if (sides.start !== (await publishing.readTree(repo, task.base.commit))) {
    const parts = { tree: merged, parents: [sides.target], message: `The work of ${task.id}` }
    return publishing.commit(repo, task, parts, signal)
  }
  if (offer.whole) return (await publishing.publish(repo, task, signal)).tip
  const message = `A part of ${task.id}`
  return publishing.commit(repo, task, { tree: sides.theirs, parents: [task.base.commit], message }, signal)
}
