import { type BytePath, toBytes } from '../core/bytes.ts'
import type { Leaf } from '../core/ports.ts'

/** `<mode> <oid> TAB <path> 0`; mode 0 removes. */
export function indexLines(moves: readonly { path: BytePath; to: Leaf | null }[]): Buffer {
  const none = '0'.repeat(40)
  return Buffer.concat(
    moves.map(({ path: file, to }) => {
      const entry = to ? `${to.mode} ${to.oid}` : `0 ${none}`
      return Buffer.concat([Buffer.from(`${entry}\t`), toBytes(file), Buffer.from([0])])
    }),
  )
}
