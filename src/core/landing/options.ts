/** Refuses the options that a strategy does not take, and those that exclude each other, before anything is read. */
import { type Exclusion, requireCombinable } from '../base/exclusions.ts'
import { AppError } from '../model/errors.ts'
import { type LandingOption, landingOptions } from '../model/strategies.ts'
import type { Choice } from './offer.ts'
import type { LandingInput, LandingStrategy } from './strategy.ts'

const flags: Record<LandingOption, string> = {
  part: '--only, --step, --hunks or --without-failed',
  onto: '--onto',
  message: '-m',
  conflicts: '--conflicts markers',
  keep: '--keep',
  hooks: '--hooks',
}

/** The hint where a branch is missing. */
export const ontoHint = 'Name a branch with --onto; git branch lists them.'

const whole = { hint: 'Leave --only and --step out: --hunks names each hunk by itself.' }
const exclusions: readonly Exclusion<'--hunks' | '--only' | '--step' | '--without-failed'>[] = [
  { options: ['--hunks', '--only'], ...whole },
  { options: ['--hunks', '--step'], ...whole },
  {
    options: ['--hunks', '--without-failed'],
    hint: 'Leave --without-failed out: --hunks names each hunk by itself.',
  },
]

/** Throws `wrongUsage` for the first option that the strategy does not take, or that excludes another. Pure. */
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
      { hint: `Leave it out, or use --as ${takers.join(', ')}.` },
    )
  }
  const given = { '--hunks': input.hunks, '--only': input.only, '--step': input.steps }
  requireCombinable({ ...given, '--without-failed': input.withoutFailed }, exclusions)
  if (input.message?.trim() === '')
    throw new AppError('wrongUsage', 'The message of -m is empty.', {
      hint: 'Write a message, or leave -m out.',
    })
}

function optionsIn(input: LandingInput & Choice): Record<LandingOption, boolean> {
  return {
    part: Boolean(input.only || input.steps || input.hunks || input.withoutFailed),
    onto: input.onto !== undefined,
    message: input.message !== undefined,
    conflicts: input.conflicts === 'markers',
    keep: Boolean(input.keep),
    hooks: Boolean(input.hooks),
  }
}
