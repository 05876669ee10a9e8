/**
 * Puts a workspace back to an older step. It touches only the files that differ, and moves files that are in no step
 * into the trash (docs/adr/0012-nothing-is-deleted.md).
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  read,
  readFile,
  readlinkSync,
  renameSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { eachOf } from '../../core/base/concurrency.ts'
import type { BytePath } from '../../core/model/bytes.ts'
import type { Follow } from '../../core/model/progress.ts'
import type { LeafChange } from '../../core/model/tree.ts'
import { draftsBeside } from '../../core/model/layout.ts'
import type { Files } from '../../core/ports/files.ts'
import type { HeldFolder } from '../../core/ports/held.ts'
import { parentOf } from '../capture/folders.ts'
import { bigFile, heavyFile } from '../objects/sizes.ts'
import { compareTrees, type Leaf } from '../objects/tree.ts'
import { type BlobScope, oneByOne, writeBlob } from './write-blob.ts'

export interface RestoreScope extends BlobScope {
  readonly files: Pick<Files, 'hold'>
  readonly workspace: string
  /** The folder for files in the way that no step holds. It is on the file system of the workspace. */
  readonly aside: string
}

interface Restoring extends RestoreScope {
  /** The workspace. Whoever works in it may put a link in the place of a folder at any time. */
  readonly held: HeldFolder
  /** The folder for half-written files: outside of the workspace no step can capture them. */
  readonly drafts: string
  /** The folders of this restore for files that it sets aside, the newest first. */
  readonly asides: HeldFolder[]
}

export async function restore(
  scope: RestoreScope,
  from: string | null,
  to: string,
  follow: Follow = {},
): Promise<Map<BytePath, Leaf | null>> {
  const changes = await compareTrees(scope.objects, from, to)
  const drafts = draftsBeside(scope.aside)
  await mkdir(drafts, { recursive: true, mode: 0o700 })
  const restoring = { ...scope, held: scope.files.hold(scope.workspace), drafts, asides: [] }
  try {
    await putBack(restoring, changes, follow)
    restoring.held.requireInPlace()
  } finally {
    for (const held of [restoring.held, ...restoring.asides]) held.close()
    await rm(drafts, { recursive: true, force: true })
  }
  return new Map(Array.from(changes, ([file, change]) => [file, change.to]))
}

async function putBack(
  restoring: Restoring,
  changes: ReadonlyMap<BytePath, LeafChange>,
  { signal, count }: Follow,
): Promise<void> {
  // First make room: a file may have become a folder, or a folder a file.
  const onEach = count?.(changes.size)
  const gone = Array.from(changes).flatMap(([file, { from, to }]) => (from && !to ? [{ file, from }] : []))
  await eachOf(gone, 1, ({ file, from }) => removeFile(restoring, file, from), { signal, onEach })
  const wanted = Array.from(changes).filter(([, change]) => change.to)
  for (const folder of parentsOf(wanted.map(([file]) => file))) makeParent(restoring, folder)
  const write = async ([file, change]: (typeof wanted)[number]) => {
    if (change.to) await writeFile(restoring, file, change.to, change.from)
  }
  await eachOf(wanted, 8, write, { signal, onEach })
}

async function removeFile(scope: Restoring, file: BytePath, known: Leaf): Promise<void> {
  const found = findStat(scope, file)
  if (!found) return
  if (found.isDirectory() && known.mode !== '160000') return
  if (await hasContent(scope, file, found, known)) scope.held.at(file, unlinkSync)
  else setAside(scope, file)
  let folder = parentOf(file)
  while (folder !== '' && scope.held.removeEmpty(folder)) folder = parentOf(folder)
}

/** undefined when nothing is there, also if a link is in the place of a parent. */
function findStat({ held }: Restoring, file: BytePath): Stats | undefined {
  try {
    return held.at(file, (full) => lstatSync(full, { throwIfNoEntry: false }))
  } catch {
    return undefined
  }
}

/**
 * Whether the file has this content now. A file that was written after the step, or could not be read then, is in no
 * step.
 */
async function hasContent(scope: Restoring, file: BytePath, there: Stats, leaf: Leaf): Promise<boolean> {
  const idOf = (content: Buffer) => scope.objects.idOf('blob', content)
  try {
    if (there.isSymbolicLink()) {
      const target = scope.held.at(file, (full) => readlinkSync(full, { encoding: 'buffer' }))
      return leaf.mode === '120000' && idOf(target) === leaf.oid
    }
    if (!there.isFile() || leaf.mode !== (there.mode & 0o100 ? '100755' : '100644')) return false
    if (there.size !== (await scope.reader.readSize(leaf.oid))) return false
    const wholeId = async () => idOf(await withOpened(scope, file, readWhole))
    const id =
      there.size >= bigFile
        ? withOpened(scope, file, (handle) => streamedId(scope, handle, there.size))
        : there.size >= heavyFile
          ? oneByOne(wholeId)
          : wholeId()
    return (await id) === leaf.oid
  } catch {
    return false
  }
}

const readWhole = (handle: number) => promisify<number, Buffer>(readFile)(handle)
const readSome = promisify(read)

async function withOpened<T>(
  { held }: Restoring,
  file: BytePath,
  work: (handle: number) => Promise<T>,
): Promise<T> {
  // If a link or a pipe took the file's place, it is neither followed nor waited for.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = held.at(file, (full) => openSync(full, flags))
  try {
    return await work(handle)
  } finally {
    closeSync(handle)
  }
}

async function streamedId({ objects }: Restoring, handle: number, size: number): Promise<string> {
  const hash = createHash(objects.oidBytes === 32 ? 'sha256' : 'sha1').update(`blob ${size}\0`)
  const chunk = Buffer.allocUnsafe(1024 * 1024)
  for (;;) {
    const { bytesRead } = await readSome(handle, chunk, 0, chunk.length, null)
    if (bytesRead === 0) return hash.digest('hex')
    hash.update(chunk.subarray(0, bytesRead))
  }
}

/** `known` is the last step's content of the file; if it is null, a file found there is in no step. */
async function writeFile(scope: Restoring, file: BytePath, leaf: Leaf, known: Leaf | null): Promise<void> {
  const there = findStat(scope, file)
  if (leaf.mode === '160000') {
    if (there && !there.isDirectory()) setAside(scope, file)
    if (!there?.isDirectory()) scope.held.at(file, (full) => mkdirSync(full))
    return
  }
  // A killed restore may already have written this file.
  if (there && (await hasContent(scope, file, there, leaf))) return
  if (there && (known === null || !(await hasContent(scope, file, there, known)))) setAside(scope, file)
  const draft = path.join(scope.drafts, String(counter++))
  if (leaf.mode === '120000') symlinkSync(await scope.objects.readObject(leaf.oid), draft)
  else await writeBlob(scope, Buffer.from(draft), leaf)
  scope.held.at(
    file,
    (full) => renameSync(draft, full),
    (full) => renameSync(full, draft),
  )
}

let counter = 0

/** Every folder that leads to one of the files, the outer ones first. */
function parentsOf(files: readonly BytePath[]): BytePath[] {
  const folders = new Set<BytePath>()
  for (const file of files) {
    for (let folder = parentOf(file); folder !== '' && !folders.has(folder); folder = parentOf(folder)) {
      folders.add(folder)
    }
  }
  return [...folders].sort()
}

function makeParent(scope: Restoring, folder: BytePath): void {
  const found = findStat(scope, folder)
  if (found?.isDirectory()) return
  if (found) setAside(scope, folder)
  scope.held.at(folder, (full) => mkdirSync(full))
}

/** Moves a file that no step holds into the trash, under its own path. An empty folder is simply removed. */
function setAside(scope: Restoring, file: BytePath): void {
  if (scope.held.removeEmpty(file)) return
  const aside = scope.asides.find((one) => isFree(one, file)) ?? makeAside(scope)
  aside.makeParents(file)
  const move = (from: string | Buffer) =>
    aside.at(
      file,
      (to) => renameSync(from, to),
      (to) => renameSync(to, from),
    )
  scope.held.at(file, move)
  scope.held.forget(file)
}

/** Whether the file has a place there: a link that was set aside earlier may have the name of one of its folders. */
function isFree(aside: HeldFolder, file: BytePath): boolean {
  try {
    return aside.at(file, (full) => lstatSync(full, { throwIfNoEntry: false })) === undefined
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

function makeAside({ files, aside, asides }: Restoring): HeldFolder {
  mkdirSync(aside, { recursive: true, mode: 0o700 })
  const made = files.hold(mkdtempSync(path.join(aside, 'rewind-')))
  asides.unshift(made)
  return made
}
