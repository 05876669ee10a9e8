/** Captures one file of a workspace, byte for byte. */
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
import { open, readdir, rm, statfs } from 'node:fs/promises'
import { below, type BytePath, fromBytes } from '../../core/model/bytes.ts'
import { AppError } from '../../core/model/errors.ts'
import { scratchIn } from '../../core/model/layout.ts'
import type { GitExec } from '../../git/exec.ts'
import { limiter } from '../../core/base/concurrency.ts'
import type { Objects } from '../objects/objects.ts'
import { bigFile, heavyFile, largestFile } from '../objects/sizes.ts'
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

/** The reasons for a file that was not read. Its content is unknown, so the step keeps the last known one. */
export const unreadable = 'unreadable'
const tooLarge = `larger than ${largestFile / 1024 ** 3} GiB`
export const unknownContent: ReadonlySet<string> = new Set([unreadable, tooLarge])

const oneByOne = limiter(1)

/** After this many attempts we give up on a path that changes its kind each time. */
const maxAttempts = 50

/** Reads a file and stores it, unless its content is one of `known`, which the vault already has. */
export async function capture(
  scope: CaptureScope,
  file: BytePath,
  known: readonly (Leaf | null)[] = [],
): Promise<Captured> {
  const full = below(scope.workspace, file)
  for (let left = maxAttempts; left > 0; left--) {
    const taken = await captureOnce(scope, full, known).catch(failureOf)
    if (taken) return taken
  }
  return { kind: 'skipped', why: unreadable }
}

/** Reading the file failed. Failures to store its content are not the file's fault, and pass unchanged. */
class ReadError extends Error {
  readonly code: string
  constructor(cause: NodeJS.ErrnoException) {
    super(cause.message, { cause })
    this.code = cause.code ?? ''
  }
}

function readOrThrow<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new ReadError(error as NodeJS.ErrnoException)
  }
}

/** The result for a file that could not be read; undefined when it has just changed its kind and needs another look. */
function failureOf(error: unknown): Captured | undefined {
  if (!(error instanceof ReadError)) throw error
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { kind: 'gone' }
  if (['ELOOP', 'EINVAL', 'ENXIO', 'EISDIR'].includes(error.code)) return undefined
  if (['EMFILE', 'ENFILE', 'ENOMEM'].includes(error.code)) throw error.cause
  return { kind: 'skipped', why: unreadable }
}

/** Uses synchronous calls: for small files they take a fraction of the time (docs/adr/0023-microseconds-at-once.md). */
async function captureOnce(
  scope: CaptureScope,
  full: Buffer,
  known: readonly (Leaf | null)[],
): Promise<Captured | undefined> {
  const found = readOrThrow(() => lstatSync(full, { bigint: true }))
  if (found.isDirectory()) return { kind: 'folder' }
  if (found.isSymbolicLink()) {
    const target = readOrThrow(() => readlinkSync(full, { encoding: 'buffer' }))
    const oid = await scope.objects.put('blob', target)
    return { kind: 'file', leaf: { mode: '120000', oid }, stat: found }
  }
  if (!found.isFile()) return { kind: 'skipped', why: specialKind(found) }
  if (found.size > largestFile) return { kind: 'skipped', why: tooLarge }
  // If a pipe took the file's place, opening it must not block; if a link did, we must not follow it.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = readOrThrow(() => openSync(full, flags))
  try {
    const stat = readOrThrow(() => fstatSync(handle, { bigint: true }))
    if (!stat.isFile()) return undefined
    const size = Number(stat.size)
    if (size > largestFile) return { kind: 'skipped', why: tooLarge }
    const storeWhole = async () => {
      const bytes = readContent(handle, size)
      const id = known.length > 0 ? scope.objects.idOf('blob', bytes) : undefined
      return known.some((leaf) => leaf?.oid === id) && id ? id : scope.objects.put('blob', bytes)
    }
    const oid =
      size >= bigFile
        ? await storeStreamed(scope, handle, size)
        : await (size >= heavyFile ? oneByOne(storeWhole) : storeWhole())
    return { kind: 'file', leaf: { mode: stat.mode & 0o100n ? '100755' : '100644', oid }, stat }
  } finally {
    closeSync(handle)
  }
}

/** Reads no more than `size` bytes: a writer may be appending, and the step holds one instant. */
function readContent(handle: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  while (at < size) {
    const read = readOrThrow(() => readSync(handle, bytes, at, size - at, at))
    if (read === 0) break
    at += read
  }
  return bytes.subarray(0, at)
}

const chunkSize = 1024 * 1024

/** Git reads a private copy, which does not change while somebody writes to the file. */
async function storeStreamed(scope: CaptureScope, handle: number, size: number): Promise<string> {
  await requireSpace(scope.vault, size)
  const copy = scratchIn(scope.vault, `${process.pid}-${counter++}`)
  try {
    const target = await open(copy, 'w', 0o600)
    try {
      const chunk = Buffer.allocUnsafe(chunkSize)
      for (let at = 0; at < size; ) {
        const read = readOrThrow(() => readSync(handle, chunk, 0, Math.min(chunkSize, size - at), at))
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

/** Fails before the disk is full: others need it, and filling it takes minutes. */
async function requireSpace(vault: string, size: number): Promise<void> {
  const { bavail, bsize } = await statfs(vault)
  if (bavail * bsize > size) return
  throw new AppError(
    'diskFull',
    `A step needs ${size} bytes for one file, and the disk has ${bavail * bsize}.`,
    {
      path: vault,
    },
  )
}

function specialKind(stat: BigIntStats): string {
  if (stat.isFIFO()) return 'a pipe'
  if (stat.isSocket()) return 'a socket'
  return 'a device'
}

export interface Below {
  readonly files: BytePath[]
  /** Paths of a repository's `.git`, which is never entered. */
  readonly git: BytePath[]
  readonly unreadable: BytePath[]
}

/** Every file below a folder, as paths relative to the workspace. */
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
    // ENOENT and ENOTDIR: the folder was deleted meanwhile. All other errors: we may not read it.
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
