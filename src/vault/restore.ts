/** Puts a workspace back to an older step: only the files that differ are touched. */
import { constants } from 'node:fs'
import { lstat, mkdir, open, rename, rmdir, symlink, unlink } from 'node:fs/promises'
import path from 'node:path'
import type { GitExec } from '../git/exec.ts'
import type { ObjectReader } from '../git/reader.ts'
import { type BytePath, below, toBytes } from './bytes.ts'
import type { Objects } from './objects.ts'
import { compareTrees, type Leaf } from './tree.ts'

interface BlobScope {
  readonly exec: GitExec
  readonly objects: Objects
  readonly reader: ObjectReader
  readonly vault: string
  readonly alternates: readonly string[]
}

export interface RestoreScope extends BlobScope {
  readonly workspace: string
  /** Where an ignored file goes that is in the way. */
  readonly aside: string
}

/** From here on content is streamed instead of being held in memory. */
const bigFile = 16 * 1024 * 1024

export async function restore(
  scope: RestoreScope,
  from: string | null,
  to: string,
  signal?: AbortSignal,
): Promise<BytePath[]> {
  const changes = await compareTrees(scope.objects, from, to)
  // First make room: a file may have become a folder, or a folder a file.
  for (const [file, change] of changes) if (change.from && !change.to) await removeFile(scope, file)
  for (const [file, { to: leaf }] of changes) {
    signal?.throwIfAborted()
    if (leaf) await writeFile(scope, file, leaf)
  }
  return [...changes.keys()]
}

async function removeFile(scope: RestoreScope, file: BytePath): Promise<void> {
  if (!(await hasRealParents(scope, file))) return
  const full = below(scope.workspace, file)
  const found = await lstat(full).catch(() => undefined)
  if (!found || found.isDirectory()) return
  await unlink(full)
  for (let folder = parentOf(file); folder !== ''; folder = parentOf(folder)) {
    try {
      await rmdir(below(scope.workspace, folder))
    } catch {
      return
    }
  }
}

function parentOf(file: BytePath): BytePath {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')))
}

/** A link in the place of a folder must not lead us out of the workspace. */
async function hasRealParents(scope: RestoreScope, file: BytePath): Promise<boolean> {
  for (let folder = parentOf(file); folder !== ''; folder = parentOf(folder)) {
    const found = await lstat(below(scope.workspace, folder)).catch(() => undefined)
    if (!found?.isDirectory()) return false
  }
  return true
}

async function writeFile(scope: RestoreScope, file: BytePath, leaf: Leaf): Promise<void> {
  const full = below(scope.workspace, file)
  await makeParents(scope, file)
  const there = await lstat(full).catch(() => undefined)
  if (leaf.mode === '160000') {
    if (!there) await mkdir(full)
    return
  }
  if (there?.isDirectory()) await setAside(scope, file)
  const draft = Buffer.concat([full, Buffer.from(`.${process.pid}.offshoot`)])
  await unlink(draft).catch(() => {})
  if (leaf.mode === '120000') await symlink(await scope.objects.readObject(leaf.oid), draft)
  else await writeBlob(scope, draft, leaf)
  await rename(draft, full)
}

async function makeParents(scope: RestoreScope, file: BytePath): Promise<void> {
  const parts = file.split('/').slice(0, -1)
  for (let count = 1; count <= parts.length; count++) {
    const folder = parts.slice(0, count).join('/')
    const found = await lstat(below(scope.workspace, folder)).catch(() => undefined)
    if (found?.isDirectory()) continue
    if (found) await setAside(scope, folder)
    await mkdir(below(scope.workspace, folder))
  }
}

/** What no step has is kept: it goes into the trash, under its own path. */
async function setAside(scope: RestoreScope, file: BytePath): Promise<void> {
  const kept = Buffer.concat([Buffer.from(`${scope.aside}/`), toBytes(file.replaceAll('/', '%'))])
  await mkdir(scope.aside, { recursive: true, mode: 0o700 })
  await rename(below(scope.workspace, file), kept)
}

/** A new file with that content. */
export async function writeBlob(scope: BlobScope, draft: Buffer, leaf: Leaf): Promise<void> {
  const mode = leaf.mode === '100755' ? 0o777 : 0o666
  const handle = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode)
  try {
    const size = await scope.reader.readSize(leaf.oid)
    if (size !== undefined && size >= bigFile) await stream(scope, handle.fd, leaf.oid)
    else await handle.writeFile(await scope.objects.readObject(leaf.oid))
  } finally {
    await handle.close()
  }
}

async function stream(scope: BlobScope, fd: number, oid: string): Promise<void> {
  const { writeSync } = await import('node:fs')
  await scope.exec({
    args: ['cat-file', 'blob', oid],
    gitDir: scope.vault,
    alternates: scope.alternates,
    cwd: path.dirname(scope.vault),
    // Written at once, so that no more of it is in memory than git has sent.
    onStdout: (chunk) => {
      for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at)
    },
  })
}
