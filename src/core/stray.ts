/** What an agent has changed in the user's repository besides its own branch. */
import type { Stray } from './events.ts'

/** Refs of ours, and the branches of tasks, may change at any time. */
export function strays(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  branches: ReadonlySet<string>,
): Stray[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((what) => !what.startsWith('refs/offshoot/') && !branches.has(what))
    .filter((what) => before.get(what) !== after.get(what))
    .map((what) => ({ what, before: before.get(what) ?? null, after: after.get(what) ?? null }))
}
