/** Refuses the options that a strategy does not take, before anything is read. */
import { AppError } from '../model/errors.ts'
import { type LandingOption, landingOptions } from '../model/strategies.ts'
import type { Choice } from './offer.ts'
import type { LandingInput, LandingStrategy } from './strategy.ts'

const flags: Record<LandingOption, string> = {
  part: '--only, --step or --hunks',
  onto: '--onto',
  message: '-m',
  conflicts: '--conflicts markers',
  keep: '--keep',
  hooks: '--hooks',
}

/** Throws `wrongUsage` for the first such option. Pure. */
export function requireOptions(
  strategy: LandingStrategy,
  input: LandingInput & Choice,
  list: readonly LandingStrategy[],
): void {
  const asked = optionsIn(input)
  const refused = landingOptions.find((option) => asked[option] && !strategy.takes.includes(option))
  if (refused) {
    const takers = list.filter(({ takes }) => takes.includes(refused)).map(({ name }) => name)
    throw new AppError(
      'wrongUsage',
      `--as ${strategy.name} does not take ${flags[refused]}: it ${strategy.summary}.`,
      { hint: takers.length > 0 ? `Leave it out, or use --as ${takers.join(', ')}.` : 'Leave it out.' },
    )
  }
  if (input.message?.trim() === '')
    throw new AppError('wrongUsage', 'The message of -m is empty.', {
      hint: 'Write a message, or leave -m out.',
    })
}

function optionsIn(input: LandingInput & Choice): Record<LandingOption, boolean> {
  return {
    part: Boolean(input.only || input.steps || input.hunks),
    onto: input.onto !== undefined,
    message: input.message !== undefined,
    conflicts: input.conflicts === 'markers',
    keep: Boolean(input.keep),
    hooks: Boolean(input.hooks),
  }
}
