/** Landing nothing: the steps are commits on the branch of the task, and that branch is the user's from now on. */
import { strategyFacts } from '../model/strategies.ts'
import { closeKept } from './close.ts'
import type { LandingStrategy } from './strategy.ts'

export const keepBranch: LandingStrategy<'keep-branch'> = {
  ...strategyFacts['keep-branch'],
  name: 'keep-branch',
  async plan({ ports, repo, task, input, signal }) {
    const commit = input.dryRun ? task.head : (await ports.publishing.publish(repo, task, signal)).tip
    return { conflicts: [], refs: [], landed: { commit } }
  },
  close: closeKept,
}
