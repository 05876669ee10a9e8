/** The input of `git update-index --index-info`. */
import { toBytes } from '../core/model/bytes.ts'
import type { IndexMove } from '../core/model/tree.ts'

/** `<mode> <oid> TAB <path> NUL`. Mode 0 removes a file; removals come first, as a folder may take a file's place. */
export function indexLines(moves: readonly IndexMove[]): Buffer {
  const known = moves.flatMap(({ from, to }) => [from, to]).find((leaf) => leaf !== null)
  const none = '0'.repeat(known?.oid.length ?? 40)
  const ordered = moves.toSorted((a, b) => Number(a.to !== null) - Number(b.to !== null))
  return Buffer.concat(
    ordered.map(({ path: file, to }) => {
      const entry = to ? `${to.mode} ${to.oid}` : `0 ${none}`
      return Buffer.concat([Buffer.from(`${entry}\t`), toBytes(file), Buffer.from([0])])
    }),
  )
}
