/** Folders held open, so that nobody can lead us through a link while we write below them (docs/adr/0038-folders-held-open.md). */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
} from 'node:fs'
import { below, type BytePath, fromBytes, toBytes, toText } from '../core/model/bytes.ts'
import { AppError } from '../core/model/errors.ts'
import type { HeldFolder } from '../core/ports/held.ts'

/** O_PATH, which Node does not name: such a descriptor needs no permission to read the folder. */
const onlyAPlace = 0o10000000
const flags = constants.O_DIRECTORY | constants.O_NOFOLLOW | onlyAPlace

/** Opens a folder and no link, to be used as the beginning of paths (`placeOf`). */
export function openPlace(folder: string | Buffer): number {
  return openSync(folder, flags)
}

/** The path that leads to an open folder, wherever it is by now. */
export function placeOf(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`
}

let known: boolean | undefined

/** Whether paths can begin at an open folder. */
export function canHold(): boolean {
  known ??= process.platform === 'linux' && existsSync(placeOf(0).slice(0, -2))
  return known
}

const asciiOnly = /^[ -~]*$/

/** A string where that is exact, since Node needs half the time for it. */
export function joined(folder: string | Buffer, name: BytePath): string | Buffer {
  if (typeof folder === 'string' && asciiOnly.test(name)) return `${folder}/${name}`
  return Buffer.concat([typeof folder === 'string' ? Buffer.from(folder) : folder, toBytes(`/${name}`)])
}

/** A folder as it was reached: the beginning of paths in it, and which one it is. */
interface Reached {
  readonly path: string | Buffer
  readonly id: string
}

interface Way {
  /** Throws `conflict` for a link or a file, ENOENT for nothing. */
  reach(folder: BytePath): Reached
  forget(folder: BytePath): void
  close(): void
  /** Whether what was reached may be another folder by the time it is used. */
  readonly isLoose: boolean
}

export function holdFolder(root: string, byDescriptors = canHold()): HeldFolder {
  const newWay = byDescriptors ? byDescriptor : byPath
  const way = newWay(root)
  const used = new Map<BytePath, string>()
  const reach = (folder: BytePath): Reached => {
    const reached = way.reach(folder)
    const before = used.get(folder)
    if (before === undefined) used.set(folder, reached.id)
    else if (before !== reached.id) throw exchanged(folder)
    return reached
  }
  const forget = (folder: BytePath) => {
    way.forget(folder)
    for (const one of used.keys()) if (isWithin(one, folder)) used.delete(one)
  }
  const at: HeldFolder['at'] = (file, act, undo) => {
    const folder = parentOf(file)
    const target = joined(reach(folder).path, nameOf(file))
    const answer = withOwnPath(target, below(root, file), () => act(target))
    if (way.isLoose && used.get(folder) !== findId(way, folder)) {
      undo?.(target)
      throw exchanged(folder)
    }
    return answer
  }
  return {
    root,
    at,
    makeParents(file) {
      const parent = parentOf(file)
      if (isThere(() => reach(parent))) return
      for (let end = parent.indexOf('/'); ; end = parent.indexOf('/', end + 1)) {
        const folder = end === -1 ? parent : parent.slice(0, end)
        if (!isThere(() => reach(folder))) at(folder, makeFolder)
        if (end === -1) return
      }
    },
    look(folder) {
      try {
        reach(folder)
        return 'folder'
      } catch (thrown) {
        if (used.has(folder)) throw exchanged(folder)
        return thrown instanceof AppError ? 'blocked' : 'missing'
      }
    },
    list: (folder) =>
      at(folder === '' ? '.' : `${folder}/.`, (path) =>
        readdirSync(path, { withFileTypes: true, encoding: 'buffer' }).map((entry) => ({
          name: fromBytes(entry.name),
          isFolder: entry.isDirectory(),
        })),
      ),
    removeEmpty(folder) {
      try {
        at(folder, rmdirSync)
      } catch {
        return false
      }
      forget(folder)
      return true
    },
    forget,
    requireInPlace() {
      const again = newWay(root)
      try {
        for (const [folder, id] of used) if (findId(again, folder) !== id) throw exchanged(folder)
      } finally {
        again.close()
      }
    },
    close: () => way.close(),
  }
}

/** So many folders are open at once, for each held one. */
const maxOpen = 128

/** Opens folder by folder from the root, and keeps those that were used last. */
function byDescriptor(root: string): Way {
  const open = new Map<BytePath, Reached & { readonly descriptor: number }>()
  const drop = (folder: BytePath) => {
    const one = open.get(folder)
    open.delete(folder)
    if (one) closeSync(one.descriptor)
  }
  const openAt = (folder: BytePath, path: string | Buffer) => {
    const descriptor = asFolder(folder, () => openPlace(path))
    const { dev, ino } = fstatSync(descriptor)
    const one = { descriptor, path: placeOf(descriptor), id: `${dev} ${ino}` }
    open.set(folder, one)
    for (const oldest of open.keys()) {
      if (open.size <= maxOpen) break
      if (oldest !== folder) drop(oldest)
    }
    return one
  }
  return {
    isLoose: false,
    reach(folder) {
      const there = open.get(folder)
      if (there) {
        open.delete(folder)
        open.set(folder, there)
        return there
      }
      let nearest = folder
      while (nearest !== '' && !open.has(nearest)) nearest = parentOf(nearest)
      let one = open.get(nearest) ?? openAt('', root)
      for (let from = nearest.length; from < folder.length; ) {
        const start = from === 0 ? 0 : from + 1
        const end = folder.indexOf('/', start)
        from = end === -1 ? folder.length : end
        one = openAt(folder.slice(0, from), joined(one.path, folder.slice(start, from)))
      }
      return one
    },
    forget(folder) {
      for (const one of open.keys()) if (isWithin(one, folder)) drop(one)
    },
    close() {
      for (const one of open.keys()) drop(one)
    },
  }
}

/** Where no path can begin at an open folder: looks at every parent, each time. */
function byPath(root: string): Way {
  return {
    isLoose: true,
    reach(folder) {
      let [path, id] = [root as string | Buffer, '']
      const look = (part: BytePath) => {
        const { dev, ino } = asFolder(part, () => requireFolder(path))
        id = `${dev} ${ino}`
      }
      look('')
      for (let from = 0; from < folder.length; ) {
        const end = folder.indexOf('/', from)
        const part = end === -1 ? folder.slice(from) : folder.slice(from, end)
        path = joined(path, part)
        look(folder.slice(0, from + part.length))
        from += part.length + 1
      }
      return { path, id }
    },
    forget() {},
    close() {},
  }
}

function requireFolder(path: string | Buffer) {
  const found = lstatSync(path)
  if (!found.isDirectory()) throw Object.assign(new Error('ENOTDIR'), { code: 'ENOTDIR' })
  return found
}

function asFolder<T>(folder: BytePath, look: () => T): T {
  try {
    return look()
  } catch (thrown) {
    const { code = '' } = thrown as NodeJS.ErrnoException
    if (code === 'ENOTDIR' || code === 'ELOOP') throw inTheWay(folder)
    throw thrown
  }
}

/** False when the folder is missing. */
function isThere(look: () => unknown): boolean {
  try {
    look()
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw thrown
  }
}

function findId(way: Way, folder: BytePath): string | undefined {
  try {
    return way.reach(folder).id
  } catch {
    return undefined
  }
}

function makeFolder(path: string | Buffer): void {
  try {
    mkdirSync(path)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
  }
}

function isWithin(folder: BytePath, outer: BytePath): boolean {
  return folder === outer || outer === '' || folder.startsWith(`${outer}/`)
}

function parentOf(file: BytePath): BytePath {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')))
}

function nameOf(file: BytePath): BytePath {
  return file.slice(file.lastIndexOf('/') + 1)
}

/** An error names the path as the user knows it. */
function withOwnPath<T>(target: string | Buffer, own: Buffer, act: () => T): T {
  try {
    return act()
  } catch (thrown) {
    const error = thrown as NodeJS.ErrnoException
    if (error.code !== undefined) error.message = error.message.replaceAll(target.toString(), own.toString())
    if (error.path !== undefined) error.path = own.toString()
    throw error
  }
}

const exchangedHint = 'Something else is at work there: end it, then repeat.'

function inTheWay(folder: BytePath): AppError {
  const conflicts = [{ path: toText(folder), kind: 'symlink' as const }]
  return new AppError('conflict', `${toText(folder) || 'The folder'} is in the way.`, {
    hint: exchangedHint,
    data: { conflicts },
  })
}

function exchanged(folder: BytePath): AppError {
  const conflicts = [{ path: toText(folder), kind: 'changed' as const }]
  const name = toText(folder) || 'The folder'
  return new AppError('conflict', `${name} was exchanged while files were written to it.`, {
    hint: exchangedHint,
    data: { conflicts },
  })
}
