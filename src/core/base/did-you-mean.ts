/** Finds the known name that a user probably meant with a misspelled one. */

/** The Levenshtein distance: how many letters must be added, removed or replaced. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (a[i] === b[j] ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1)!
}

/** The known name that was probably meant; undefined when none is close enough to be a help. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  // The work grows with the square of the length, and no misspelled name is longer.
  const written = name.slice(0, 100).toLowerCase()
  const ranked = known.map((candidate) => {
    const right = candidate.toLowerCase()
    // A settings key without its group (`size` for `pool.size`) counts as close.
    return {
      candidate,
      apart: Math.min(distance(written, right), distance(written, right.split('.').at(-1)!)),
    }
  })
  const best = ranked.toSorted((a, b) => a.apart - b.apart)[0]
  return best && best.apart <= Math.max(2, written.length / 3) ? best.candidate : undefined
}
