/**
 * A look at a workspace without a process: whether every file looks as when the index was written, or as its last step
 * noted it, and nothing else is there. Whatever is unusual is left to git, which finds out more and takes longer.
 */
import { type BigIntStats, lstatSync, readdirSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { type BytePath, below, fromBytes } from './bytes.ts'
import { lookOf, type Overlay } from './overlay.ts'

/** From here on git, which compares with several threads, is no slower. */
const most = 5_000

/** May answer no for yes, never yes for no. */
export async function isUntouched(
  workspace: string,
  index: string,
  overlay: Overlay,
  oidBytes: number,
): Promise<boolean> {
  const [content, written] = await Promise.all([
    readFile(index).catch(() => undefined),
    stat(index, { bigint: true }).catch(() => undefined),
  ])
  const entries = content && written && plainEntries(content, oidBytes)
  if (!entries) return false
  const now = BigInt(Date.now()) * 1_000_000n
  const isSame = (file: BytePath): boolean => {
    const found = lstatSync(plainPath(workspace, file), { bigint: true, throwIfNoEntry: false })
    const seen = overlay.seen.get(file)
    if (seen) return seen.leaf === null ? !found : seen.look !== undefined && isLook(found, seen.look, now)
    const entry = entries.get(file)
    // What was written in the tick of the index itself may have been written again since.
    return Boolean(entry && found && found.ctimeNs < written.ctimeNs && isEntry(found, entry))
  }
  try {
    const expected = new Set(entries.keys())
    for (const [file, { leaf }] of overlay.seen) {
      if (leaf) expected.add(file)
      else expected.delete(file)
      if (leaf?.mode === '160000') return false
    }
    return isAllThere(workspace, expected) && [...entries.keys(), ...overlay.seen.keys()].every(isSame)
  } catch {
    return false
  }
}

const plain = /^[ -~]*$/

/** A string where that says the same: it takes half the time. */
function plainPath(workspace: string, file: BytePath): string | Buffer {
  return plain.test(file) ? `${workspace}/${file}` : below(workspace, file)
}

function isLook(found: BigIntStats | undefined, look: string, now: bigint): boolean {
  return found !== undefined && lookOf(found, now) === look
}

/** These files, their folders, and nothing else but the workspace's own git. */
function isAllThere(workspace: string, expected: ReadonlySet<BytePath>): boolean {
  const folders = new Set<BytePath>()
  for (const file of expected) {
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) {
      if (folders.has(file.slice(0, at))) break
      folders.add(file.slice(0, at))
    }
  }
  for (const folder of ['', ...folders]) {
    const prefix = folder === '' ? '' : `${folder}/`
    const names = readdirSync(below(workspace, folder), { withFileTypes: true, encoding: 'buffer' })
    for (const entry of names) {
      const name = prefix + fromBytes(entry.name)
      if (name === '.git') continue
      if (entry.isDirectory() ? !folders.has(name) : !expected.has(name)) return false
    }
  }
  return true
}

interface Entry {
  readonly content: Buffer
  readonly at: number
}

const flagged = { isValid: 0x8000, extended: 0x4000, stage: 0x3000 }
const link = 0o160000

/** The entries of an index of the usual kind; undefined for one with flags, shortened names, or parts elsewhere. */
function plainEntries(content: Buffer, oidBytes: number): Map<BytePath, Entry> | undefined {
  if (content.length < 12 || content.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const [version, count] = [content.readUInt32BE(4), content.readUInt32BE(8)]
  if (version < 2 || version > 3 || count > most) return undefined
  const entries = new Map<BytePath, Entry>()
  let at = 12
  for (let n = 0; n < count; n++) {
    const flags = content.readUInt16BE(at + 40 + oidBytes)
    if (flags & (flagged.isValid | flagged.extended | flagged.stage)) return undefined
    if ((content.readUInt32BE(at + 24) & 0o170000) === link) return undefined
    const name = at + 42 + oidBytes
    const end = content.indexOf(0, name)
    if (end === -1) return undefined
    entries.set(content.toString('latin1', name, end), { content, at })
    at += (end - at + 8) & ~7
  }
  // A part that begins with a small letter has to be understood.
  for (let part = at; part + 8 <= content.length - oidBytes; part += 8 + content.readUInt32BE(part + 4)) {
    if (/^[a-z]/.test(content.toString('latin1', part, part + 4))) return undefined
  }
  return entries
}

const second = 1_000_000_000n
const word = 0xffffffffn

/** Times to the nanosecond, size, number and kind: what git itself would compare, and more. */
function isEntry(found: BigIntStats, { content, at }: Entry): boolean {
  const field = (n: number) => content.readUInt32BE(at + 4 * n)
  const isTime = (time: bigint, n: number) =>
    Number((time / second) & word) === field(n) && Number(time % second) === field(n + 1)
  const mode = Number(found.mode)
  const kind = mode & 0o170000
  const wanted = kind === 0o100000 ? (mode & 0o100 ? 0o100755 : 0o100644) : kind
  return (
    isTime(found.ctimeNs, 0) &&
    isTime(found.mtimeNs, 2) &&
    Number(found.ino & word) === field(5) &&
    wanted === field(6) &&
    Number(found.size & word) === field(9)
  )
}
