/**
 * Checks without git that a workspace is untouched: each file has the stat of the index, or of its last step, and no
 * other file exists. All unusual cases go to git, which knows more and takes longer
 * (docs/adr/0021-prune-in-batches.md).
 */
import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { below, type BytePath } from '../../core/model/bytes.ts'
import { settledLook, type Overlay } from './overlay.ts'
import { lookOnly } from '../../git/look.ts'

/** For more files git is no slower, since it compares in several threads. */
const maxEntries = 5_000

/** May say no for an untouched workspace, but never yes for a changed one. */
export async function isUntouched(
  workspace: string,
  index: string,
  overlay: Overlay,
  oidBytes: number,
): Promise<boolean> {
  return (await judge(workspace, index, overlay, { oidBytes, maxEntries })) === 'untouched'
}

/** `unknown`: the index is an unusual one, or has more than `maxEntries`. */
export async function judge(
  workspace: string,
  index: string,
  { seen }: Pick<Overlay, 'seen'>,
  limits: { readonly oidBytes: number; readonly maxEntries: number },
): Promise<'untouched' | 'touched' | 'unknown'> {
  const [content, written] = await Promise.all([
    readFile(index, { flag: lookOnly }).catch(() => undefined),
    stat(index).catch(() => undefined),
  ])
  const entries = content && written && plainEntries(content, limits)
  if (!entries) return 'unknown'
  const now = BigInt(Date.now()) * 1_000_000n
  const isAsSeen = (file: BytePath): boolean => {
    const { leaf, look } = seen.get(file)!
    const found = lstatSync(plainPath(workspace, file), { bigint: true, throwIfNoEntry: false })
    return leaf === null ? !found : Boolean(look && found && settledLook(found, now) === look)
  }
  const isAsIndexed = (entry: Entry, file: BytePath): boolean => {
    const found = lstatSync(plainPath(workspace, file), { throwIfNoEntry: false })
    // A file written in the same clock tick as the index may have been written again since, with the same stat.
    return Boolean(found && found.ctimeMs < written.ctimeMs && isEntry(found, entry))
  }
  try {
    for (const [file, { leaf }] of seen) {
      if (leaf?.mode === '160000' || !isAsSeen(file)) return 'touched'
      entries.delete(file)
    }
    const present = [...seen].flatMap(([file, { leaf }]) => (leaf ? [file] : []))
    if (!isAllThere(workspace, new Set([...present, ...entries.keys()]))) return 'touched'
    for (const [file, entry] of entries) if (!isAsIndexed(entry, file)) return 'touched'
    return 'untouched'
  } catch {
    return 'touched'
  }
}

const asciiOnly = /^[ -~]*$/

/** A string for ASCII paths, since Node needs half the time for it; otherwise a buffer. */
function plainPath(workspace: string, file: BytePath): string | Buffer {
  return asciiOnly.test(file) ? `${workspace}/${file}` : below(workspace, file)
}

/** Whether the workspace holds these files, their folders and its own `.git`, and nothing else. */
function isAllThere(workspace: string, expected: ReadonlySet<BytePath>): boolean {
  const folders = new Set<BytePath>()
  let last = ''
  for (const file of expected) {
    let at = file.lastIndexOf('/')
    // The previous file was in the same folder, which is already in the set.
    if (at === last.length && file.startsWith(last)) continue
    last = file.slice(0, Math.max(at, 0))
    for (; at > 0; at = file.lastIndexOf('/', at - 1)) {
      if (folders.has(file.slice(0, at))) break
      folders.add(file.slice(0, at))
    }
  }
  for (const folder of ['', ...folders]) {
    const prefix = folder === '' ? '' : `${folder}/`
    // Decoded as Latin-1, each character of a name is one byte.
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

/** The entries of a usual index; undefined if it has flags, shortened names or a shared index. */
function plainEntries(
  content: Buffer,
  { oidBytes, maxEntries: most }: { readonly oidBytes: number; readonly maxEntries: number },
): Map<BytePath, Entry> | undefined {
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
  // A lower-case first letter marks an extension that a reader must understand.
  for (let part = at; part + 8 <= content.length - oidBytes; part += 8 + content.readUInt32BE(part + 4)) {
    if (/^[a-z]/.test(content.toString('latin1', part, part + 4))) return undefined
  }
  return entries
}

const word = 2 ** 32

/** Compares all fields that git compares, and more. Stats carry times to a quarter of a microsecond. */
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
