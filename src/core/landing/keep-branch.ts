/** The strategy `keep-branch`: lands nothing, and leaves the task's branch with all steps to the user. */
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
