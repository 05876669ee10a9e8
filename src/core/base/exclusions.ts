/** Options that cannot be combined. */
import { AppError } from '../model/errors.ts'

/** One rule: of these options, at most one may be given. */
export interface Exclusion<Option extends string> {
  readonly options: readonly Option[]
  /** The reason, as it ends the message: `: it names the start of a new branch`. */
  readonly why?: string
  readonly hint?: string
}

/** Throws `wrongUsage` for the first rule that is broken. An option that is undefined or false was not given. Pure. */
export function requireCombinable<Option extends string>(
  given: Readonly<Record<Option, unknown>>,
  rules: readonly Exclusion<Option>[],
): void {
  for (const { options, why = '', hint = 'Give one of them.' } of rules) {
    const [one, other] = options.filter((option) => given[option] !== undefined && given[option] !== false)
    if (one !== undefined && other !== undefined)
      throw new AppError('wrongUsage', `${one} cannot be combined with ${other}${why}.`, { hint })
  }
}
