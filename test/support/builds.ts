/** Builds that lack something on purpose, to see that a history notices. */
import type { ComposeOptions } from '../../src/compose/full.ts'

type Around = NonNullable<ComposeOptions['around']>

/** Nothing is written down before it is done: what a killed one leaves, nobody knows of. */
const withoutJournal: Around = {
  vault: (vault) => ({ ...vault, async keep() {} }),
  store: (store) => ({
    ...store,
    async append(change) {
      const isMark = change.entries.every(
        ({ type }) => type === 'operation.begun' || type === 'operation.staged',
      )
      return isMark ? 'done' : store.append(change)
    },
  }),
}

/** It is written down, and nobody reads it. */
const withoutRecovery: Around = { store: (store) => ({ ...store, readPendingTasks: async () => [] }) }

export const builds = {
  whole: {} as Around,
  'without the journal': withoutJournal,
  'without recovery': withoutRecovery,
} as const

export type Build = keyof typeof builds

/** The second is nearer to the verbs. */
export function both(first: Around, second: Around): Around {
  const joined: Record<string, unknown> = { ...first }
  for (const [port, outer] of Object.entries(second) as [string, (port: unknown) => unknown][]) {
    const inner = joined[port] as ((port: unknown) => unknown) | undefined
    joined[port] = inner ? (real: unknown) => outer(inner(real)) : outer
  }
  return joined as Around
}
