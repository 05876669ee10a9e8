/**
 * Puts a workspace back to an older step. It touches only the files that differ, and moves files that are in no step
 * into the trash (docs/adr/0012-nothing-is-deleted.md).
 */
import type { Stats } from 'node:fs'
import {
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises'
import path from 'node:path'
import { eachOf } from '../../core/base/concurrency.ts'
import { below, type BytePath } from '../../core/model/bytes.ts'
import { draftsBeside } from '../../core/model/layout.ts'
import { parentOf } from '../capture/folders.ts'
import { bigFile, heavyFile } from '../objects/sizes.ts'
import { compareTrees, type Leaf } from '../objects/tree.ts'
import { type BlobScope, oneByOne, writeBlob } from './write-blob.ts'

export interface RestoreScope extends BlobScope {
  readonly workspace: string
  /** The folder for files in the way that no step holds. It is on the file system of the workspace. */
  readonly aside: string
}

interface Restoring extends RestoreScope {
  /** The folder for half-written files: outside of the workspace no step can capture them. */
  readonly drafts: string
  /** Makes, at the first call, the folder for files that this restore sets aside. */
  makeAside(): Promise<string>
}

export async function restore(
  scope: RestoreScope,
  from: string | null,
  to: string,
  signal?: AbortSignal,
): Promise<Map<BytePath, Leaf | null>> {
  const changes = await compareTrees(scope.objects, from, to)
  let aside: Promise<string> | undefined
  const makeAside = async () => {
    await mkdir(scope.aside, { recursive: true, mode: 0o700 })
    return mkdtemp(path.join(scope.aside, 'rewind-'))
  }
  const drafts = draftsBeside(scope.aside)
  await mkdir(drafts, { recursive: true, mode: 0o700 })
  const restoring = { ...scope, drafts, makeAside: () => (aside ??= makeAside()) }
  try {
    // First make room: a file may have become a folder, or a folder a file.
    for (const [file, change] of changes)
      if (change.from && !change.to) await removeFile(restoring, file, change.from)
    const wanted = Array.from(changes).filter(([, change]) => change.to)
    for (const folder of parentsOf(wanted.map(([file]) => file))) await makeParent(restoring, folder)
    await eachOf(wanted, 8, async ([file, change]) => {
      signal?.throwIfAborted()
      if (change.to) await writeFile(restoring, file, change.to, change.from)
    })
  } finally {
    await rm(drafts, { recursive: true, force: true })
  }
  return new Map(Array.from(changes, ([file, change]) => [file, change.to]))
}

async function removeFile(scope: Restoring, file: BytePath, known: Leaf): Promise<void> {
  if (!(await hasRealParents(scope, file))) return
  const full = below(scope.workspace, file)
  const found = await lstat(full).catch(() => undefined)
  if (!found) return
  if (found.isDirectory() && known.mode !== '160000') return
  if (await hasContent(scope, full, found, known)) await unlink(full)
  else await setAside(scope, file)
  for (let folder = parentOf(file); folder !== ''; folder = parentOf(folder)) {
    try {
      await rmdir(below(scope.workspace, folder))
    } catch {
      return
    }
  }
}

/**
 * Whether the file has this content now. A file that was written after the step, or could not be read then, is in no
 * step.
 */
async function hasContent(scope: Restoring, full: Buffer, there: Stats, leaf: Leaf): Promise<boolean> {
  const idOf = (content: Buffer) => scope.objects.idOf('blob', content)
  if (there.isSymbolicLink()) {
    return leaf.mode === '120000' && idOf(await readlink(full, { encoding: 'buffer' })) === leaf.oid
  }
  if (!there.isFile() || leaf.mode !== (there.mode & 0o100 ? '100755' : '100644')) return false
  if (there.size !== (await scope.reader.readSize(leaf.oid))) return false
  const matchesWhole = () => readFile(full).then((content) => idOf(content) === leaf.oid)
  const read = there.size >= bigFile ? streamedId(scope, full) : undefined
  const same = read
    ? read.then((id) => id === leaf.oid)
    : there.size >= heavyFile
      ? oneByOne(matchesWhole)
      : matchesWhole()
  return same.catch(() => false)
}

async function streamedId(scope: Restoring, full: Buffer): Promise<string> {
  const { stdout } = await scope.exec({
    args: ['hash-object', '--no-filters', '--', full.toString()],
    gitDir: scope.vault,
    cwd: scope.workspace,
  })
  return stdout.toString().trim()
}

/** A link in the place of a folder would lead us out of the workspace. */
async function hasRealParents(scope: RestoreScope, file: BytePath): Promise<boolean> {
  for (let folder = parentOf(file); folder !== ''; folder = parentOf(folder)) {
    const found = await lstat(below(scope.workspace, folder)).catch(() => undefined)
    if (!found?.isDirectory()) return false
  }
  return true
}

/** `known` is the last step's content of the file; if it is null, a file found there is in no step. */
async function writeFile(scope: Restoring, file: BytePath, leaf: Leaf, known: Leaf | null): Promise<void> {
  const full = below(scope.workspace, file)
  const there = await lstat(full).catch(() => undefined)
  if (leaf.mode === '160000') {
    if (there && !there.isDirectory()) await setAside(scope, file)
    if (!there?.isDirectory()) await mkdir(full)
    return
  }
  // A killed restore may already have written this file.
  if (there && (await hasContent(scope, full, there, leaf))) return
  if (there && (known === null || !(await hasContent(scope, full, there, known)))) await setAside(scope, file)
  const draft = Buffer.from(path.join(scope.drafts, String(counter++)))
  if (leaf.mode === '120000') await symlink(await scope.objects.readObject(leaf.oid), draft)
  else await writeBlob(scope, draft, leaf)
  await rename(draft, full)
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

async function makeParent(scope: Restoring, folder: BytePath): Promise<void> {
  const full = below(scope.workspace, folder)
  const found = await lstat(full).catch(() => undefined)
  if (found?.isDirectory()) return
  if (found) await setAside(scope, folder)
  await mkdir(full)
}

/** Moves a file that no step holds into the trash, under its own path. An empty folder is simply removed. */
async function setAside(scope: Restoring, file: BytePath): Promise<void> {
  const full = below(scope.workspace, file)
  const empty = await rmdir(full).then(
    () => true,
    () => false,
  )
  if (empty) return
  const aside = await scope.makeAside()
  await mkdir(below(aside, parentOf(file)), { recursive: true, mode: 0o700 })
  await rename(full, below(aside, file))
}
