/** The strategy `squash`: lands as one commit on a branch. */
import { strategyFacts } from '../model/strategies.ts'
import { closeLanded } from './close.ts'
import { buildOne, planCommit } from './commit-build.ts'
import type { LandingStrategy } from './strategy.ts'

export const squash: LandingStrategy<'squash'> = {
  ...strategyFacts.squash,
  name: 'squash',
  plan: (work) =>
    planCommit(work, {
      build: (sides) => buildOne(work, sides, { message: 'squashMessage' }),
      tells: { name: 'post-commit', args: [] },
    }),
  close: closeLanded,
}
