/**
 * The list of landing strategies (docs/adr/0027-landing-strategies.md). A new one is one file with a `LandingStrategy`, one
 * line here, and a row with its name, summary and options in model/strategies.ts; without either of the two this file does
 * not compile. The suite of test/contracts/strategy.contract.ts runs over all of them, and
 * test/contracts/fault-rows.test.ts asks for a row in test/faults/journeys.ts.
 */
import { AppError } from '../model/errors.ts'
import { type Strategy, strategies } from '../model/strategies.ts'
import type { Task } from '../model/task.ts'
import { keepBranch } from './keep-branch.ts'
import { merge } from './merge.ts'
import { onShadow } from './on-shadow.ts'
import { patch } from './patch.ts'
import { pullRequest } from './pull-request.ts'
import { rebase } from './rebase.ts'
import { squash } from './squash.ts'
import type { LandingStrategy } from './strategy.ts'

const byName: { readonly [Name in Strategy]: LandingStrategy<Name> } = {
  patch,
  squash,
  merge,
  rebase,
  'keep-branch': keepBranch,
  pr: pullRequest,
}

export const landingStrategies: readonly LandingStrategy<Strategy>[] = strategies.map((name) => byName[name])

/** The strategy of that name; for a task on a shadow branch, wrapped for it. */
export function requireStrategy<Name extends string>(
  list: readonly LandingStrategy<Name>[],
  name: Name | undefined,
  task: Task,
): LandingStrategy<Name> {
  const wanted: string = name ?? defaultFor(task)
  const found = list.find((strategy) => strategy.name === wanted)
  if (found) return task.shadow ? onShadow(found) : found
  throw new AppError('failed', `There is no strategy ${JSON.stringify(wanted)}.`)
}

/** On a shadow branch a patch would mix with the user's own uncommitted changes, so the default is a commit. */
function defaultFor(task: Task): Strategy {
  return task.shadow ? 'squash' : 'patch'
}
