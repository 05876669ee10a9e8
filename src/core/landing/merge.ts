/** The strategy `merge`: lands as a merge commit, so that git knows the task's branch as merged. */
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
 * The second parent of the merge: the tip of the task's branch, or a commit of the chosen part. If the task began with
 * uncommitted changes of the user, its branch holds those too, and only the user may commit them: then the second parent
 * is a commit of the work alone, on top of the target.
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
