/** Finds conflict markers that the work adds to a file: a whole set of them, each at the beginning of a line. Pure. */

/** A set of conflict markers: the line that it begins at, and the labels of its two sides. */
export interface MarkerSet {
  readonly line: number
  readonly labels: string
}

interface PieceSearch {
  take(piece: Buffer): void
}

/** Whether a content may hold conflict markers: quick, because most contents hold none. */
export function markerHint(): PieceSearch & { end(): boolean } {
  let found = false
  let tail: Buffer = Buffer.alloc(0)
  return {
    take(piece) {
      found ||= piece.includes(begin) || Buffer.concat([tail, piece.subarray(0, 6)]).includes(begin)
      tail = Buffer.concat([tail, piece]).subarray(-6)
    },
    end: () => found,
  }
}

const begin = '<'.repeat(7)
const middle = '='.repeat(7)
const finish = '>'.repeat(7)

/** The sets of markers of a content. A line of `=======` alone, as under a heading, is no set. */
export function markerSearch(): PieceSearch & { end(): MarkerSet[] } {
  const sets: MarkerSet[] = []
  let open: { readonly line: number; readonly label: string; readonly halved: boolean } | undefined
  let line = 0
  let rest = ''
  const read = (text: string) => {
    line++
    const label = labelOf(text, begin)
    if (label !== undefined) open = { line, label, halved: false }
    else if (open && text.trimEnd() === middle) open = { ...open, halved: true }
    else if (open?.halved) {
      const other = labelOf(text, finish)
      if (other === undefined) return
      sets.push({ line: open.line, labels: `${open.label}\n${other}` })
      open = undefined
    }
  }
  return {
    take(piece) {
      const lines = (rest + piece.toString('latin1')).split('\n')
      rest = lines.pop() ?? ''
      for (const text of lines) read(text)
    },
    end() {
      if (rest !== '') read(rest)
      return sets
    },
  }
}

/** The label behind a marker; undefined when the line is none. */
function labelOf(text: string, marker: string): string | undefined {
  if (!text.startsWith(marker)) return undefined
  const after = text.slice(marker.length).trimEnd()
  return after === '' || after.startsWith(' ') ? after : undefined
}

/** The first set that the file did not have before. A set is known by its labels, so that its text may be edited. */
export function firstNew(before: readonly MarkerSet[], after: readonly MarkerSet[]): MarkerSet | undefined {
  const known = before.map(({ labels }) => labels)
  return after.find(({ labels }) => {
    const at = known.indexOf(labels)
    if (at >= 0) known.splice(at, 1)
    return at < 0
  })
}
