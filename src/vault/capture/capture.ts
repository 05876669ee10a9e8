/** One file of a workspace, taken byte for byte. */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import { below, type BytePath, fromBytes } from '../../core/model/bytes.ts'
import { scratchIn } from '../../core/model/layout.ts'
import type { GitExec } from '../../git/exec.ts'
import { limiter } from '../../core/base/concurrency.ts'
import type { Objects } from '../objects/objects.ts'
import { bigFile, heavyFile } from '../objects/sizes.ts'
import type { Leaf } from '../objects/tree.ts'

export interface CaptureScope {
  readonly exec: GitExec
  readonly objects: Objects
  readonly vault: string
  readonly workspace: string
  readonly alternates: readonly string[]
}

export type Captured =
  | { readonly kind: 'file'; readonly leaf: Leaf; readonly stat: BigIntStats }
  | { readonly kind: 'gone' }
  | { readonly kind: 'folder' }
  | { readonly kind: 'skipped'; readonly why: string }

/** What is said of a file whose content nobody knows: the last step keeps what it has of it. */
export const unreadable = 'unreadable'

const oneByOne = limiter(1)

/** A path that keeps becoming something else is given up after so many looks. */
const looks = 50

/** What is `known` the vault has already. */
export async function capture(
  scope: CaptureScope,
  file: BytePath,
  known: readonly (Leaf | null)[] = [],
): Promise<Captured> {
  const full = below(scope.workspace, file)
  for (let left = looks; left > 0; left--) {
    const taken = await take(scope, full, known).catch(unread)
    if (taken) return taken
  }
  return { kind: 'skipped', why: unreadable }
}

/** Reading failed. Failures to store what was read are none of the file's and pass as they are. */
class ReadError extends Error {
  readonly code: string
  constructor(cause: NodeJS.ErrnoException) {
    super(cause.message, { cause })
    this.code = cause.code ?? ''
  }
}

function reading<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new ReadError(error as NodeJS.ErrnoException)
  }
}

/** What it means that a file could not be read; undefined: it has just become something else, look again. */
function unread(error: unknown): Captured | undefined {
  if (!(error instanceof ReadError)) throw error
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { kind: 'gone' }
  if (['ELOOP', 'EINVAL', 'ENXIO', 'EISDIR'].includes(error.code)) return undefined
  if (['EMFILE', 'ENFILE', 'ENOMEM'].includes(error.code)) throw error.cause
  return { kind: 'skipped', why: unreadable }
}

/** One call after the other, without the detour of asynchronous ones: for small files that takes a fraction of the time. */
async function take(
  scope: CaptureScope,
  full: Buffer,
  known: readonly (Leaf | null)[],
): Promise<Captured | undefined> {
  const found = reading(() => lstatSync(full, { bigint: true }))
  if (found.isDirectory()) return { kind: 'folder' }
  if (found.isSymbolicLink()) {
    const target = reading(() => readlinkSync(full, { encoding: 'buffer' }))
    const oid = await scope.objects.put('blob', target)
    return { kind: 'file', leaf: { mode: '120000', oid }, stat: found }
  }
  if (!found.isFile()) return { kind: 'skipped', why: special(found) }
  // A pipe that took the file's place must not make us wait, nor a link lead us elsewhere.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = reading(() => openSync(full, flags))
  try {
    const stat = reading(() => fstatSync(handle, { bigint: true }))
    if (!stat.isFile()) return undefined
    const size = Number(stat.size)
    const whole = async () => {
      const bytes = content(handle, size)
      const id = known.length > 0 ? scope.objects.idOf('blob', bytes) : undefined
      return known.some((leaf) => leaf?.oid === id) && id ? id : scope.objects.put('blob', bytes)
    }
    const oid =
      size >= bigFile
        ? await streamed(scope, handle, size)
        : await (size >= heavyFile ? oneByOne(whole) : whole())
    return { kind: 'file', leaf: { mode: stat.mode & 0o100n ? '100755' : '100644', oid }, stat }
  } finally {
    closeSync(handle)
  }
}

/** What it holds at one instant: a writer may be at work, so no more is read than there was. */
function content(handle: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  while (at < size) {
    const read = reading(() => readSync(handle, bytes, at, size - at, at))
    if (read === 0) break
    at += read
  }
  return bytes.subarray(0, at)
}

const chunkSize = 1024 * 1024

/** A private copy stands still while git reads it, whatever happens to the file. */
async function streamed(scope: CaptureScope, handle: number, size: number): Promise<string> {
  const copy = scratchIn(scope.vault, `${process.pid}-${counter++}`)
  try {
    const target = await open(copy, 'w', 0o600)
    try {
      const chunk = Buffer.allocUnsafe(chunkSize)
      for (let at = 0; at < size; ) {
        const read = reading(() => readSync(handle, chunk, 0, Math.min(chunkSize, size - at), at))
        if (read === 0) break
        at += read
        await target.writeFile(chunk.subarray(0, read))
      }
    } finally {
      await target.close()
    }
    const { stdout } = await scope.exec({
      args: ['hash-object', '-w', '--no-filters', '--', copy],
      gitDir: scope.vault,
      cwd: scope.vault,
    })
    const oid = stdout.toString().trim()
    await scope.objects.written(oid)
    return oid
  } finally {
    await rm(copy, { force: true })
  }
}

let counter = 0

function special(stat: BigIntStats): string {
  if (stat.isFIFO()) return 'a pipe'
  if (stat.isSocket()) return 'a socket'
  return 'a device'
}

export interface Below {
  readonly files: BytePath[]
  /** The `.git` of repositories: named, not entered. */
  readonly git: BytePath[]
  readonly unreadable: BytePath[]
}

/** Every file below a folder, as paths of the workspace. */
export async function filesBelow(workspace: string, folder: BytePath): Promise<Below> {
  const found: Below = { files: [], git: [], unreadable: [] }
  await addBelow(workspace, folder, found)
  return found
}

async function addBelow(workspace: string, folder: BytePath, found: Below): Promise<void> {
  const entries = await readdir(below(workspace, folder), {
    withFileTypes: true,
    encoding: 'buffer',
  }).catch((error: NodeJS.ErrnoException) => {
    // Gone meanwhile, or it never was for us to read.
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') found.unreadable.push(`${folder}/`)
    return []
  })
  for (const entry of entries) {
    const name = fromBytes(entry.name)
    const full = `${folder}/${name}`
    if (name === '.git') found.git.push(full)
    else if (entry.isDirectory()) await addBelow(workspace, full, found)
    else found.files.push(full)
  }
}
