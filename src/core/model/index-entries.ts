/** The entries of an index file without their stat data, which every `git status` writes anew. Pure. */
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'

/** How many bytes of an entry are stat data, up to its object id; the mode is among them. */
const [modeAt, idAt] = [24, 40]

/** In the flags of an entry, the length of its path. */
const lengthBits = 0x0fff
const extendedBit = 0x4000

/**
 * A hash of mode, object, flags and path of all entries. Undefined when it cannot be told without git: a split index, or a
 * file that is none.
 */
export function entriesHash(index: Buffer): string | undefined {
  // The length of an object id is not in the file; with the wrong one, the end does not fit.
  return hashed(index, 20) ?? hashed(index, 32)
}

function hashed(index: Buffer, idBytes: number): string | undefined {
  const end = index.length - idBytes
  if (end < 12 || index.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const [version, count] = [index.readUInt32BE(4), index.readUInt32BE(8)]
  const hash = createHash('sha256')
  let [at, path] = [12, Buffer.alloc(0)]
  for (let n = 0; n < count; n++) {
    const entry = readEntry(index, at, { idBytes, end, version, before: path })
    if (!entry) return undefined
    hash.update(entry.meaning).update(entry.path).update('\0')
    ;[at, path] = [entry.next, entry.path]
  }
  return areExtensions(index, at, end) ? hash.digest('hex') : undefined
}

interface Entry {
  /** Mode, object id and flags. */
  readonly meaning: Buffer
  readonly path: Buffer<ArrayBuffer>
  readonly next: number
}

interface EntryScope {
  readonly idBytes: number
  readonly end: number
  readonly version: number
  /** The path of the entry before, which version 4 shortens paths by. */
  readonly before: Buffer
}

function readEntry(index: Buffer, at: number, scope: EntryScope): Entry | undefined {
  const { idBytes, end, version, before } = scope
  const flagsAt = at + idAt + idBytes
  if (flagsAt + 4 > end) return undefined
  const flags = index.readUInt16BE(flagsAt)
  const pathAt = flagsAt + (flags & extendedBit ? 4 : 2)
  const meaning = Buffer.concat([
    index.subarray(at + modeAt, at + modeAt + 4),
    index.subarray(at + idAt, pathAt),
  ])
  meaning.writeUInt16BE(flags & ~lengthBits, 4 + idBytes)
  const cut = version === 4 ? readCut(index, pathAt) : { length: 0, next: pathAt }
  const pathEnd = index.indexOf(0, cut.next)
  if (pathEnd === -1 || pathEnd >= end || cut.length > before.length) return undefined
  const kept = version === 4 ? before.subarray(0, before.length - cut.length) : Buffer.alloc(0)
  const path = Buffer.concat([kept, index.subarray(cut.next, pathEnd)])
  const length = pathEnd - at
  // Up to version 3, one to eight NULs fill an entry up to a multiple of eight.
  return { meaning, path, next: version === 4 ? pathEnd + 1 : at + length + 8 - (length % 8) }
}

/** How many bytes of the last path go, as git's variable-length number. */
function readCut(index: Buffer, from: number): { length: number; next: number } {
  let at = from
  let byte = index[at++] ?? 0
  let length = byte & 0x7f
  while (byte & 0x80 && at < index.length) {
    byte = index[at++] ?? 0
    length = (length + 1) * 128 + (byte & 0x7f)
  }
  return { length, next: at }
}

/** Whether nothing but extensions is up to the end, none of which says that there are entries in another file. */
function areExtensions(index: Buffer, from: number, end: number): boolean {
  let at = from
  while (at + 8 <= end) {
    if (index.toString('latin1', at, at + 4) === 'link') return false
    at += 8 + index.readUInt32BE(at + 4)
  }
  return at === end
}
