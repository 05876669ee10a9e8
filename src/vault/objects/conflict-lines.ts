/** Finds the lines that conflict in a text with the markers of `git merge-tree`. Pure. */
import type { LineRange } from '../../core/model/tree.ts'

/** Our merges label their markers with commits, so that markers which a file had before are not taken for theirs. */
const [begin, middle, end] = [
  /^<{7} [0-9a-f]{40,64}(:.*)?\r?$/,
  /^={7}\r?$/,
  /^>{7} [0-9a-f]{40,64}(:.*)?\r?$/,
]

/** The ranges, counted in the version of the side that lands: of a deletion, the line that comes after it. */
export function conflictLines(content: Buffer): LineRange[] {
  const ranges: LineRange[] = []
  let side: 'both' | 'ours' | 'theirs' = 'both'
  let line = 1
  let from = 0
  for (const text of content.toString('latin1').split('\n')) {
    if (side === 'both' && begin.test(text)) side = 'ours'
    else if (side === 'ours' && middle.test(text)) {
      side = 'theirs'
      from = line
    } else if (side === 'theirs' && end.test(text)) {
      side = 'both'
      ranges.push({ from, to: Math.max(from, line - 1) })
    } else if (side !== 'ours') line++
  }
  return ranges
}
