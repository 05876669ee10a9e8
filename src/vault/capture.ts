/** One file of a workspace, taken byte for byte. */
import { type BigIntStats, constants } from 'node:fs'
import { copyFile, lstat, open, readdir, readlink, rm } from 'node:fs/promises'
import path from 'node:path'
import type { GitExec } from '../git/exec.ts'
import { type BytePath, below, fromBytes } from './bytes.ts'
import type { Objects } from './objects.ts'
import type { Leaf } from './tree.ts'

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

/** From here on a file is streamed by git instead of being read into memory. */
const bigFile = 16n * 1024n * 1024n

export async function capture(scope: CaptureScope, file: BytePath): Promise<Captured> {
  const full = below(scope.workspace, file)
  try {
    const stat = await lstat(full, { bigint: true })
    if (stat.isDirectory()) return { kind: 'folder' }
    if (stat.isSymbolicLink()) {
      const oid = await scope.objects.put('blob', await readlink(full, { encoding: 'buffer' }))
      return { kind: 'file', leaf: { mode: '120000', oid }, stat }
    }
    if (!stat.isFile()) return { kind: 'skipped', why: special(stat) }
    const oid =
      stat.size >= bigFile
        ? await streamed(scope, full)
        : await scope.objects.put('blob', await content(full))
    return { kind: 'file', leaf: { mode: stat.mode & 0o100n ? '100755' : '100644', oid }, stat }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'gone' }
    if (code === 'EACCES' || code === 'EPERM' || code === 'ELOOP')
      return { kind: 'skipped', why: 'unreadable' }
    throw error
  }
}

/** What it holds at one instant: a writer may be at work. A pipe that took the file's place must not make us wait. */
async function content(full: Buffer): Promise<Buffer> {
  const handle = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** A private copy stands still while git reads it, whatever happens to the file. */
async function streamed(scope: CaptureScope, full: Buffer): Promise<string> {
  const copy = path.join(scope.vault, 'scratch', `${process.pid}-${counter++}`)
  try {
    await copyFile(full, copy, constants.COPYFILE_FICLONE)
    const { stdout } = await scope.exec({
      args: ['hash-object', '-w', '--no-filters', '--', copy],
      gitDir: scope.vault,
      cwd: scope.vault,
    })
    return stdout.toString().trim()
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

/** Every file below a folder, as paths of the workspace; `.git` is named, not entered. */
export async function filesBelow(
  workspace: string,
  folder: BytePath,
): Promise<{ files: BytePath[]; git: BytePath[] }> {
  const files: BytePath[] = []
  const git: BytePath[] = []
  const entries = await readdir(below(workspace, folder), { withFileTypes: true, encoding: 'buffer' })
  for (const entry of entries) {
    const name = fromBytes(entry.name)
    const full = `${folder}/${name}`
    if (name.toLowerCase() === '.git') git.push(full)
    else if (entry.isDirectory()) {
      const inside = await filesBelow(workspace, full)
      files.push(...inside.files)
      git.push(...inside.git)
    } else files.push(full)
  }
  return { files, git }
}
