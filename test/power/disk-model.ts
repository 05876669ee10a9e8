/** A disk as inodes and names, and the changes to it, each of which a power cut may lose as long as nobody has synced it. */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import type { Call } from './disk-log.ts'

type Inode =
  | { readonly kind: 'file'; readonly content: Buffer; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly names: ReadonlyMap<string, number>; readonly mode: number }

/** Every inode by its number; the root has the number 0. */
export type Inodes = ReadonlyMap<number, Inode>

/** A change of one inode, or of a name in a folder. */
export type Change =
  /** A new name of an inode, or none. */
  | {
      readonly kind: 'name'
      readonly folder: number
      readonly name: string
      readonly inode: number | undefined
      readonly what: string
    }
  | {
      readonly kind: 'rename'
      readonly old: { readonly folder: number; readonly name: string }
      readonly folder: number
      readonly name: string
      readonly inode: number
      readonly what: string
    }
  | {
      readonly kind: 'data'
      readonly inode: number
      readonly at: number
      readonly data: Buffer
      readonly what: string
    }
  | { readonly kind: 'size'; readonly inode: number; readonly size: number; readonly what: string }
  | { readonly kind: 'mode'; readonly inode: number; readonly mode: number; readonly what: string }
  /** All of an inode, or of the disk, that was changed before the change number `began`. */
  | { readonly kind: 'sync'; readonly inode: number | 'all'; readonly began: number; readonly what: string }
  | { readonly kind: 'said'; readonly text: string; readonly what: string }

/** The inodes below a folder. Names are bytes, one character each. */
export function readDisk(root: string): Map<number, Inode> {
  const inodes = new Map<number, Inode>()
  const numbers = new Map<number, number>()
  const read = (file: Buffer): number => {
    const found = lstatSync(file)
    const known = found.isFile() && found.nlink > 1 ? numbers.get(found.ino) : undefined
    if (known !== undefined) return known
    const number = inodes.size
    numbers.set(found.ino, number)
    inodes.set(number, { kind: 'link', target: '' })
    if (found.isSymbolicLink()) inodes.set(number, { kind: 'link', target: readlinkSync(file, 'latin1') })
    else if (found.isDirectory()) {
      const names = new Map<string, number>()
      for (const name of readdirSync(file, 'latin1')) names.set(name, read(inside(file, name)))
      inodes.set(number, { kind: 'folder', names, mode: found.mode & 0o7777 })
    } else inodes.set(number, { kind: 'file', content: readFileSync(file), mode: found.mode & 0o7777 })
    return number
  }
  read(Buffer.from(root))
  return inodes
}

function inside(folder: Buffer, name: string): Buffer {
  return Buffer.concat([folder, Buffer.from(`/${name}`, 'latin1')])
}

/** The calls as changes of inodes. A call whose file is not known was about something outside. */
export function changesOf(disk: Inodes, calls: readonly Call[], root: string): Change[] {
  const now = new Map(disk)
  const changes: Change[] = []
  const began: number[] = []
  const positions = new Map<number, number | 'end'>()
  let last = Math.max(...now.keys())
  const find = (file: string): number | undefined => {
    let at: number | undefined = 0
    for (const name of path.relative(root, file).split('/').filter(Boolean)) {
      const inode: Inode | undefined = now.get(at ?? -1)
      at = inode?.kind === 'folder' ? inode.names.get(name) : undefined
    }
    return at
  }
  const place = (file: string) => ({ folder: find(path.dirname(file)) ?? -1, name: path.basename(file) })
  const add = (change: Change) => {
    changes.push(change)
    apply(now, change)
  }
  const make = (file: string, inode: Inode, what: string) => {
    const number = ++last
    now.set(number, inode)
    made.set(number, inode)
    add({ kind: 'name', ...place(file), inode: number, what })
    return number
  }
  const told = (file: string) => path.relative(root, file)
  const made = new Map<number, Inode>()
  for (const call of calls) {
    began.push(changes.length)
    if (call.kind === 'said') {
      changes.push({ kind: 'said', text: call.text, what: 'said' })
      continue
    }
    if (call.kind === 'sync all') {
      changes.push({ kind: 'sync', inode: 'all', began: began[call.began] ?? changes.length, what: 'sync' })
      continue
    }
    const what = `${call.kind} ${told(call.file)}`
    const inode = find(call.file)
    switch (call.kind) {
      case 'open': {
        const number =
          inode ??
          (call.creates
            ? make(call.file, { kind: 'file', content: Buffer.alloc(0), mode: call.mode }, what)
            : -1)
        positions.set(number, call.appends ? 'end' : 0)
        if (inode !== undefined && call.empties) add({ kind: 'size', inode, size: 0, what })
        break
      }
      case 'write': {
        if (inode === undefined) break
        const file = now.get(inode)
        const size = file?.kind === 'file' ? file.content.length : 0
        const position = positions.get(inode) ?? 'end'
        const at = call.at ?? (position === 'end' ? size : position)
        if (position !== 'end') positions.set(inode, at + call.data.length)
        if (call.data.length > 0) add({ kind: 'data', inode, at, data: call.data, what })
        break
      }
      case 'copy': {
        const source = now.get(find(call.from) ?? -1)
        if (inode !== undefined && source?.kind === 'file')
          add({ kind: 'data', inode, at: 0, data: source.content, what })
        break
      }
      case 'truncate':
        if (inode !== undefined) add({ kind: 'size', inode, size: call.size, what })
        break
      case 'folder':
        make(call.file, { kind: 'folder', names: new Map(), mode: call.mode }, what)
        break
      case 'symlink':
        make(call.file, { kind: 'link', target: call.target }, what)
        break
      case 'unlink':
        add({ kind: 'name', ...place(call.file), inode: undefined, what })
        break
      case 'link': {
        const number = find(call.old)
        if (number !== undefined) add({ kind: 'name', ...place(call.file), inode: number, what })
        break
      }
      case 'rename': {
        const number = find(call.old)
        if (number !== undefined)
          add({ kind: 'rename', old: place(call.old), ...place(call.file), inode: number, what })
        break
      }
      case 'chmod':
        if (inode !== undefined) add({ kind: 'mode', inode, mode: call.mode, what })
        break
      case 'sync':
        if (inode !== undefined)
          changes.push({ kind: 'sync', inode, began: began[call.began] ?? changes.length, what })
        break
    }
  }
  for (const [number, inode] of made) (disk as Map<number, Inode>).set(number, inode)
  return changes
}

/** Makes one change. */
function apply(disk: Map<number, Inode>, change: Change): void {
  switch (change.kind) {
    case 'name':
      return rename(disk, change.folder, change.name, change.inode)
    case 'rename':
      rename(disk, change.old.folder, change.old.name, undefined)
      return rename(disk, change.folder, change.name, change.inode)
    case 'data':
    case 'size':
    case 'mode': {
      const inode = disk.get(change.inode)
      if (inode?.kind === 'folder' && change.kind === 'mode')
        disk.set(change.inode, { ...inode, mode: change.mode })
      if (inode?.kind !== 'file') return
      if (change.kind === 'mode') disk.set(change.inode, { ...inode, mode: change.mode })
      else disk.set(change.inode, { ...inode, content: contentAfter(inode.content, change) })
      return
    }
    case 'sync':
    case 'said':
  }
}

function contentAfter(before: Buffer, change: Extract<Change, { kind: 'data' | 'size' }>): Buffer {
  const size = change.kind === 'size' ? change.size : Math.max(before.length, change.at + change.data.length)
  const content = Buffer.alloc(size)
  before.copy(content)
  if (change.kind === 'data') change.data.copy(content, change.at)
  return content
}

function rename(disk: Map<number, Inode>, folder: number, name: string, inode: number | undefined): void {
  const found = disk.get(folder)
  if (found?.kind !== 'folder') return
  const names = new Map(found.names)
  if (inode === undefined) names.delete(name)
  else names.set(name, inode)
  disk.set(folder, { ...found, names })
}

/** The disk after the first `count` changes, without some of them. */
export function diskAfter(
  disk: Inodes,
  changes: readonly Change[],
  count: number,
  without: ReadonlySet<number>,
): Map<number, Inode> {
  const after = new Map(disk)
  for (const [index, change] of changes.slice(0, count).entries())
    if (!without.has(index)) apply(after, change)
  return after
}

/** Those of the first `count` changes that nobody has synced, by what a power cut keeps or loses at once. */
export function unsynced(changes: readonly Change[], count: number): Map<string, number[]> {
  const synced = new Map<number | 'all', number>()
  for (const change of changes.slice(0, count))
    if (change.kind === 'sync')
      synced.set(change.inode, Math.max(synced.get(change.inode) ?? 0, change.began))
  const isSynced = (inode: number, index: number) =>
    index < Math.max(synced.get(inode) ?? 0, synced.get('all') ?? 0)
  const open = new Map<string, number[]>()
  for (const [index, change] of changes.slice(0, count).entries()) {
    if (change.kind === 'data' || change.kind === 'size') {
      if (isSynced(change.inode, index)) continue
      const key = `data of ${change.what.split(' ').slice(1).join(' ')}, inode ${change.inode}`
      open.set(key, [...(open.get(key) ?? []), index])
    } else if (change.kind === 'name' || change.kind === 'rename') {
      const isDone =
        isSynced(change.folder, index) || (change.kind === 'rename' && isSynced(change.old.folder, index))
      if (!isDone) open.set(`${change.what}, change ${index}`, [index])
    }
  }
  return open
}

const hashes = new WeakMap<Buffer, string>()

function hashOf(content: Buffer): string {
  const hash = hashes.get(content) ?? createHash('sha1').update(content).digest('hex')
  hashes.set(content, hash)
  return hash
}

/** What can be reached, as one value. */
export function outlineOf(disk: Inodes): string {
  const hash = createHash('sha1')
  const walk = (number: number, at: string) => {
    const inode = disk.get(number)
    if (inode?.kind === 'folder')
      for (const [name, one] of [...inode.names].sort(([a], [b]) => (a < b ? -1 : 1)))
        walk(one, `${at}/${name}`)
    else if (inode) hash.update(`${at}\0${inode.kind === 'file' ? hashOf(inode.content) : inode.target}\0`)
  }
  walk(0, '')
  return hash.digest('hex')
}

/** Changes the folder, which is `before`, to `after`. What is the same is not touched. */
export function writeDifference(before: Inodes, after: Inodes, root: string): void {
  const written = new Map<number, Buffer>()
  const write = (number: number, target: Buffer) => {
    const inode = after.get(number)
    const known = written.get(number)
    if (inode?.kind === 'file' && known) return linkSync(known, target)
    written.set(number, target)
    if (inode?.kind === 'link') symlinkSync(Buffer.from(inode.target, 'latin1'), target)
    else if (inode?.kind === 'file') {
      writeFileSync(target, inode.content)
      chmodSync(target, inode.mode)
    } else if (inode?.kind === 'folder') {
      mkdirSync(target)
      for (const [name, one] of inode.names) write(one, inside(target, name))
      chmodSync(target, inode.mode)
    }
  }
  const compare = (number: number, target: Buffer) => {
    const [old, now] = [before.get(number), after.get(number)]
    if (old?.kind !== 'folder' || now?.kind !== 'folder') return
    for (const [name, one] of old.names)
      if (now.names.get(name) !== one || isOther(before.get(one), after.get(one)))
        rmSync(inside(target, name), { recursive: true, force: true })
      else written.set(one, inside(target, name))
    for (const [name, one] of now.names) {
      if (old.names.get(name) !== one || isOther(before.get(one), after.get(one)))
        write(one, inside(target, name))
      else compare(one, inside(target, name))
    }
  }
  compare(0, Buffer.from(root))
}

/** Folders are compared name by name. */
function isOther(one: Inode | undefined, other: Inode | undefined): boolean {
  return one !== other && !(one?.kind === 'folder' && other?.kind === 'folder')
}
