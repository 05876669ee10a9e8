/** The port of files, on the real file system (docs/adr/0023-microseconds-at-once.md). */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { mkdir, open, rename, rm, statfs } from 'node:fs/promises'
import path from 'node:path'
import { AppError } from '../core/model/errors.ts'
import { isNetwork } from '../core/base/network-fs.ts'
import type { FileSystem } from '../core/ports/files.ts'
import { copyNew, link } from './copy-new.ts'
import { holdFolder } from './held.ts'
import { orUndefined, readKind, undefinedIfMissing } from './kind.ts'
import { copy, draftPath, move } from './move.ts'
import { removeFolder } from './remove.ts'
import { readUsage } from './usage.ts'
import { sync } from './sync.ts'

/**
 * The real file system. Errors of the system pass unchanged. Calls that take microseconds are synchronous: the way to
 * another thread and back takes ten times as long, and a verb makes a hundred such calls in a row.
 */
export function nodeFiles(): FileSystem {
  return {
    readKind,
    readText,
    readPart,
    readHash,
    readTime: async (target) => orUndefined(() => lstatSync(target))?.mtime,
    readNames,
    readRealPath,
    readFreeSpace,
    readUsage,
    makeFolder,
    makeNewFolder,
    write,
    writeDurable,
    writeDurableNew,
    writeNew,
    append,
    appendDurable,
    writeDraft,
    placeDrafts,
    sync,
    copy,
    copyNew,
    link,
    hold: (folder) => holdFolder(folder),
    rename: async (from, to) => renameSync(from, to),
    move,
    removeEmptyFolder,
    remove,
  }
}

/** O_NONBLOCK: if a pipe took the file's place, opening it must not wait for a writer. */
const lookOnly = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

async function readText(target: string): Promise<string | undefined> {
  const file = orUndefined(() => openSync(target, lookOnly))
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

async function readPart(target: string, from: number, most: number) {
  const file = orUndefined(() => openSync(target, lookOnly))
  if (file === undefined) return undefined
  try {
    const found = fstatSync(file)
    if (!found.isFile()) return undefined
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(most, found.size - from)))
    const read = bytes.length === 0 ? 0 : readSync(file, bytes, 0, bytes.length, from)
    return { bytes: bytes.subarray(0, read), size: found.size }
  } finally {
    closeSync(file)
  }
}

async function readHash(target: string): Promise<string | undefined> {
  const file = orUndefined(() => openSync(target, lookOnly))
  if (file === undefined) return undefined
  try {
    if (!fstatSync(file).isFile()) return undefined
    const hash = createHash('sha256')
    const chunk = Buffer.allocUnsafe(64 * 1024)
    for (let size = 1; size > 0; ) {
      size = readSync(file, chunk)
      hash.update(chunk.subarray(0, size))
    }
    return hash.digest('hex')
  } finally {
    closeSync(file)
  }
}

async function readNames(folder: string): Promise<string[]> {
  if ((await readKind(folder)) === 'link') return []
  return orUndefined(() => readdirSync(folder)) ?? []
}

async function readRealPath(target: string): Promise<string> {
  const real = orUndefined(() => realpathSync.native(target))
  if (real !== undefined) return real
  const parent = path.dirname(target)
  if (parent === target) return target
  // A link to a missing file still says where a write would go.
  const link = (await readKind(target)) === 'link' ? readlinkSync(target) : undefined
  if (link !== undefined) return readRealPath(path.resolve(realpathSync.native(parent), link))
  return path.join(await readRealPath(parent), path.basename(target))
}

/** The free space at the nearest existing folder, since a new file or folder will be there. */
async function readFreeSpace(target: string): Promise<{ free: number; total: number; network: boolean }> {
  const found = await unlessMissing(statfs(target))
  if (!found) return readFreeSpace(path.dirname(target))
  const { bavail, blocks, bsize, type } = found
  return { free: bavail * bsize, total: blocks * bsize, network: isNetwork(type) }
}

async function makeFolder(target: string, mode?: number): Promise<void> {
  const first = mkdirSync(target, { recursive: true, ...(mode === undefined ? {} : { mode }) })
  if (first === undefined || mode === undefined) return
  for (let made = path.resolve(target); made.startsWith(first); made = path.dirname(made)) {
    // The umask removed bits of the mode.
    if ((statSync(made).mode & 0o7777) !== mode) chmodSync(made, mode)
  }
}

async function makeNewFolder(target: string): Promise<void> {
  try {
    mkdirSync(target)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
    throw new AppError('pathExists', `Something is there already: ${target}.`, {
      path: target,
      cause: thrown,
    })
  }
}

async function removeEmptyFolder(target: string): Promise<void> {
  try {
    rmdirSync(target)
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    // Some systems report EEXIST for a folder that is not empty.
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'].includes(code ?? '')) throw thrown
  }
}

async function remove(target: string): Promise<void> {
  try {
    unlinkSync(target)
  } catch {
    await removeFolder(target)
  }
}

async function write(target: string, content: string, mode?: number): Promise<void> {
  const draft = draftPath(target)
  const file = openSync(draft, 'wx', mode)
  try {
    try {
      writeFileSync(file, content)
      if (mode !== undefined && (fstatSync(file).mode & 0o7777) !== mode) fchmodSync(file, mode)
    } finally {
      closeSync(file)
    }
    renameSync(draft, target)
  } catch (thrown) {
    rmSync(draft, { force: true })
    throw thrown
  }
}

async function writeDurable(target: string, content: Uint8Array, mode: number): Promise<void> {
  await placeDrafts([{ draft: await writeDraft(target, content, mode), target }])
}

async function writeDurableNew(target: string, content: Uint8Array, mode: number): Promise<boolean> {
  const draft = await writeDraft(target, content, mode)
  try {
    await sync([draft])
    return takeName(draft, target)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** False when the name is taken: unlike a rename, a hard link never replaces a file. */
function takeName(draft: string, target: string): boolean {
  try {
    linkSync(draft, target)
    return true
  } catch (thrown) {
    const { code = '' } = thrown as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (!linkless.includes(code)) throw thrown
    if (orUndefined(() => lstatSync(target))) return false
    renameSync(draft, target)
    return true
  }
}

/** A file system without hard links answers one of these. There, a name taken between the look and the rename is replaced. */
const linkless = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

async function writeNew(target: string, content: string): Promise<boolean> {
  try {
    writeFileSync(target, content, { flag: 'wx' })
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw thrown
  }
}

const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW

async function append(target: string, text: string, mode: number): Promise<void> {
  const file = openSync(target, appending, mode)
  try {
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}

async function appendDurable(target: string, text: string, mode: number): Promise<void> {
  const isNew = (await readKind(target)) === undefined
  const file = await open(target, appending, mode)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  if (isNew) await sync([path.dirname(target)])
}

async function writeDraft(target: string, content: Uint8Array, mode: number): Promise<string> {
  const draft = draftPath(target)
  try {
    const file = await openDraft(draft, mode)
    try {
      writeFileSync(file, content)
    } finally {
      closeSync(file)
    }
    return draft
  } catch (thrown) {
    rmSync(draft, { force: true })
    throw thrown
  }
}

async function placeDrafts(drafts: readonly { draft: string; target: string }[]): Promise<void> {
  try {
    await sync(drafts.map(({ draft }) => draft))
    await Promise.all(drafts.map(({ draft, target }) => rename(draft, target)))
  } catch (thrown) {
    await Promise.all(drafts.map(({ draft }) => rm(draft, { force: true })))
    throw thrown
  }
}

/** Makes the folder only if opening fails: nearly always it exists. */
async function openDraft(draft: string, mode: number): Promise<number> {
  try {
    return openSync(draft, 'wx', mode)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
    await makeParent(path.dirname(draft))
    return openSync(draft, 'wx', mode)
  }
}

/** On a read-only file system, recursive mkdir reports ENOENT instead of EROFS, so it is the last resort. */
async function makeParent(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT') await mkdir(folder, { recursive: true, mode: 0o700 })
    else if (code !== 'EEXIST') throw thrown
  }
}

function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  return found.catch(undefinedIfMissing)
}
