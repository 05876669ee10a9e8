/** Which sets of paths meet: in the same file, or in a file of the one where the other has a folder. Pure. */
import type { BytePath } from '../model/bytes.ts'

/** On some systems two names that differ only in case are one file. */
const keyOf = (path: BytePath) => path.toLowerCase()

/** The path and the folders above it: `a/b/c` is `a/b/c`, `a/b` and `a`. */
function upwards(path: string): string[] {
  const found: string[] = []
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) found.push(path.slice(0, end))
  return found
}

/** The paths of `one` that `other` has as well, below them or above them. */
export function sharedPaths(one: Iterable<BytePath>, other: Iterable<BytePath>): BytePath[] {
  const [files, above] = [new Set<string>(), new Set<string>()]
  for (const path of other) {
    files.add(keyOf(path))
    for (const folder of upwards(keyOf(path))) above.add(folder)
  }
  return [...one].filter(
    (path) => above.has(keyOf(path)) || upwards(keyOf(path)).some((folder) => files.has(folder)),
  )
}

/** The pairs of sets that share a path, by their places in the list. Looks at each path once, not at each pair. */
export function overlappingPairs(sets: readonly Iterable<BytePath>[]): [one: number, other: number][] {
  const files = new Map<string, number[]>()
  for (const [at, paths] of sets.entries()) {
    for (const path of paths) files.set(keyOf(path), [...(files.get(keyOf(path)) ?? []), at])
  }
  const found = new Map<string, [number, number]>()
  for (const [path, owners] of files) {
    for (const folder of upwards(path)) {
      for (const other of files.get(folder) ?? []) {
        for (const one of owners) {
          const [low, high] = [Math.min(one, other), Math.max(one, other)]
          if (low !== high) found.set(`${low} ${high}`, [low, high])
        }
      }
    }
  }
  return [...found.values()].sort(([a, b], [c, d]) => a - c || b - d)
}
