/**
 * A look at a workspace without a process: whether every file looks as when the index was written, or as its last step
 * noted it, and nothing else is there. Whatever is unusual is left to git, which finds out more and takes longer.
 */
import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { below, type BytePath } from '../../core/model/bytes.ts'
import { lookOf, type Overlay } from './overlay.ts'

/** From here on git, which compares with several threads, is no slower. */
const most = 5_000

/** May answer no for yes, never yes for no. */
export async function isUntouched(
  workspace: string,
  index: string,
  { seen }: Overlay,
  oidBytes: number,
): Promise<boolean> {
  const [content, written] = await Promise.all([
    readFile(index).catch(() => undefined),
    stat(index).catch(() => undefined),
  ])
  const entries = content && written && plainEntries(content, oidBytes)
  if (!entries) return false
  const now = BigInt(Date.now()) * 1_000_000n
  const isAsSeen = (file: BytePath): boolean => {
    const { leaf, look } = seen.get(file)!
    const found = lstatSync(plainPath(workspace, file), { bigint: true, throwIfNoEntry: false })
    return leaf === null ? !found : Boolean(look && found && lookOf(found, now) === look)
  }
  const isAsIndexed = (entry: Entry, file: BytePath): boolean => {
    const found = lstatSync(plainPath(workspace, file), { throwIfNoEntry: false })
    // What was written in the tick of the index itself may have been written again since.
    return Boolean(found && found.ctimeMs < written.ctimeMs && isEntry(found, entry))
  }
  try {
    for (const [file, { leaf }] of seen) {
      if (leaf?.mode === '160000' || !isAsSeen(file)) return false
      entries.delete(file)
    }
    const present = [...seen].flatMap(([file, { leaf }]) => (leaf ? [file] : []))
    if (!isAllThere(workspace, new Set([...present, ...entries.keys()]))) return false
    for (const [file, entry] of entries) if (!isAsIndexed(entry, file)) return false
    return true
  } catch {
    return false
  }
}

const plain = /^[ -~]*$/

/** A string where that says the same: it takes half the time. */
function plainPath(workspace: string, file: BytePath): string | Buffer {
  return plain.test(file) ? `${workspace}/${file}` : below(workspace, file)
}

/** These files, their folders, and nothing else but the workspace's own git. */
function isAllThere(workspace: string, expected: ReadonlySet<BytePath>): boolean {
  const folders = new Set<BytePath>()
  let last = ''
  for (const file of expected) {
    let at = file.lastIndexOf('/')
    // One after the other is in the same folder.
    if (at === last.length && file.startsWith(last)) continue
    last = file.slice(0, Math.max(at, 0))
    for (; at > 0; at = file.lastIndexOf('/', at - 1)) {
      if (folders.has(file.slice(0, at))) break
      folders.add(file.slice(0, at))
    }
  }
  for (const folder of ['', ...folders]) {
    const prefix = folder === '' ? '' : `${folder}/`
    // As Latin-1 a name is its bytes.
    const names = readdirSync(plainPath(workspace, folder), { withFileTypes: true, encoding: 'latin1' })
    for (const entry of names) {
      const name = prefix + entry.name
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

const word = 2 ** 32

/** What git itself would compare, and more. Times as the file system's are told: to a quarter of a microsecond. */
function isEntry(found: Stats, { content, at }: Entry): boolean {
  const field = (n: number) => content.readUInt32BE(at + 4 * n)
  const time = (n: number) => field(n) * 1e3 + field(n + 1) / 1e6
  const { mode } = found
  const kind = mode & 0o170000
  const wanted = kind === 0o100000 ? (mode & 0o100 ? 0o100755 : 0o100644) : kind
  return (
    found.ctimeMs === time(0) &&
    found.mtimeMs === time(2) &&
    found.ino % word === field(5) &&
    wanted === field(6) &&
    found.size % word === field(9)
  )
}
