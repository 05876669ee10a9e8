/** The states in which a power cut can leave the disk, made from a record of what a verb did to it. */
import { type Change, diskAfter, type Inodes, outlineOf, unsynced } from './disk-model.ts'

export interface CrashState {
  /** What is lost, in words. */
  readonly what: string
  /** Whether the verb had said that it was done. */
  readonly acknowledged: boolean
  /** Nothing is left that was not synced. */
  readonly isBarest: boolean
  /** So many changes had been made, */
  readonly count: number
  /** and these of them are lost. */
  readonly lost: ReadonlySet<number>
}

/**
 * At every sync, just before it ends, and when the verb has said that it is done: all that nobody has synced is lost; all but
 * one change; or one change alone. A state that was there before does not come again.
 */
export function crashStates(disk: Inodes, changes: readonly Change[]): CrashState[] {
  const seen = new Set<string>()
  const states: CrashState[] = []
  const said = changes.findIndex((one) => one.kind === 'said' && one.text.startsWith('acknowledged'))
  const counts = changes.flatMap((one, index) => (one.kind === 'sync' ? [index] : []))
  for (const count of new Set([...counts, said + 1, changes.length])) {
    const open = unsynced(changes, count)
    const all = [...open.values()].flat()
    const acknowledged = said !== -1 && count > said
    const choices: [what: string, lost: readonly number[], isBarest: boolean][] = [
      ['everything that is not synced', all, true],
      ...Array.from(open, ([what, one]): (typeof choices)[number] => {
        return [`everything but ${what}`, all.filter((index) => !one.includes(index)), false]
      }),
      ...Array.from(open, ([what, one]): (typeof choices)[number] => [what, one, false]),
    ]
    for (const [what, indexes, isBarest] of choices) {
      const lost = new Set(indexes)
      const outline = `${acknowledged} ${outlineOf(diskAfter(disk, changes, count, lost))}`
      if (seen.has(outline)) continue
      seen.add(outline)
      const when = acknowledged
        ? 'after it was acknowledged'
        : `at ${count} (${changes[count]?.what ?? 'the end'})`
      states.push({ what: `${when}, without ${what}`, acknowledged, isBarest, count, lost })
    }
  }
  return states
}

/** The barest states, those in which a lock alone is left, and of the others so many, spread over all. */
export function chosen(states: readonly CrashState[], most: number): readonly CrashState[] {
  const isPlain = ({ isBarest, what }: CrashState) => !isBarest && !loneLock.test(what)
  const others = states.filter(isPlain)
  const apart = Math.max(1, Math.ceil(others.length / most))
  return states.filter((state) => !isPlain(state) || others.indexOf(state) % apart === 0)
}

/** A lock outlives the record of the git that took it. */
const loneLock = /everything but .*\.lock\b/
