import type { ComposeOptions } from '../../src/compose/full.ts'
import { effects } from '../../src/core/ports/effects.ts'
import type { FileSystem } from '../../src/core/ports/files.ts'

type Around = NonNullable<ComposeOptions['around']>

/** Calls `act` when the Nth effect of the kind begins; `reached` tells whether there were so many. */
export function atEffect(n: number, act: () => void): { around: Around; reached: () => boolean } {
  let count = 0
  const tick = () => void (++count === n && act())
  const before = <T extends object>(port: T, names: readonly (keyof T)[]): T => {
    const wrapped = names.map((name) => [
      name,
      (...args: unknown[]) => {
        tick()
        return (port[name] as (...args: unknown[]) => unknown)(...args)
      },
    ])
    return { ...port, ...Object.fromEntries(wrapped) }
  }
  return {
    around: {
      files: (files: FileSystem) => before(files, effects.files),
      store: (store) => before(store, effects.store),
      repos: (repos) => before(repos, effects.repos),
      notes: (notes) => before(notes, effects.notes),
      exec: (exec) => (call) => {
        const answer = exec(call)
        // Also while the child runs, not only before.
        setImmediate(tick)
        tick()
        return answer
      },
    },
    reached: () => count >= n,
  }
}
