/** A strategy that offshoot does not have: what it takes to add one. */
import { closeLanded } from '../../src/core/landing/close.ts'
import { planCommit } from '../../src/core/landing/commit-build.ts'
import type { LandingStrategy } from '../../src/core/landing/strategy.ts'

export const fastForward: LandingStrategy<'fast-forward'> = {
  name: 'fast-forward',
  summary: 'moves the branch to the last step, unless it has moved itself',
  lands: 'commit',
  takes: ['onto', 'keep'],
  plan: (work) =>
    planCommit(work, {
      async build({ onto, target, before, theirs }) {
        const { ports, repo, task, input, signal } = work
        if (target !== task.base.commit)
          return {
            conflicts: [{ path: onto, kind: 'changed' }],
            commit: target,
            before,
            after: before,
            theirs,
          }
        const commit = input.dryRun ? target : (await ports.publishing.publish(repo, task, signal)).tip
        return { conflicts: [], commit, before, after: theirs, theirs }
      },
      tells: { name: 'post-merge', args: ['0'] },
    }),
  close: closeLanded,
}
