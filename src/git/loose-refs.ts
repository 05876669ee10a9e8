/**
 * Creates and deletes refs in process, in the same steps as git: lock, reflog, ref. `git update-ref` would cost a
 * process (docs/adr/0018-refs-in-process.md).
 */
import path from 'node:path'
import { allEnded } from '../core/base/concurrency.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { Place } from '../core/model/repo.ts'
import type { RefChange } from '../core/model/git.ts'
import { branchOf } from '../core/model/refs.ts'
import { lstatOf, readSmall } from './look.ts'
import { sharedLockMark, syncRefs } from './refs.ts'

/** False when anything is unusual: then nothing was changed, and the caller lets git do it. */
export async function changeLoose(
  files: FileSystem,
  place: Place,
  changes: readonly RefChange[],
  message: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const at = (name: string) => path.join(place.commonDir, name)
  if (isShared(at('refs')) || !areOrdinary(at, changes)) return false
  const [made, gone] = [changes.filter(isMade), changes.filter(({ new: to }) => to === null)]
  const locks = changes.map(({ ref, new: to }) => ({ file: at(`${ref}.lock`), text: to ? `${to}\n` : '' }))
  const locksTaken = new Set<string>()
  try {
    for (const { file, text } of locks) {
      signal?.throwIfAborted()
      if (!(await inFolder(files, file, () => files.writeNew(file, text)))) return false
      locksTaken.add(file)
    }
    // A git that packs refs at the same time would bring a deleted ref back.
    const [first] = gone
    if (first) {
      const packed = at('packed-refs.lock')
      if (!(await createLink(files, packed, sharedLockMark(first.ref)))) return false
      locksTaken.add(packed)
    }
    // From now on we hold all locks. Somebody may have changed a ref before we had them.
    if (!areOrdinary(at, changes)) return false
    if (made.length > 0) await files.sync(made.map(({ ref }) => at(`${ref}.lock`)))
    signal?.throwIfAborted()
    for (const { ref, new: to } of made) {
      if (isLogged(ref)) await appendReflog(files, at(`logs/${ref}`), to, message)
      await files.rename(at(`${ref}.lock`), at(ref))
      locksTaken.delete(at(`${ref}.lock`))
    }
    // Deletes the reflog first, as git does: a ref without a reflog is less bad than a reflog without a ref.
    for (const { ref } of gone) {
      await files.remove(at(`logs/${ref}`))
      await files.remove(at(ref))
    }
  } finally {
    await allEnded(Array.from(locksTaken, (lock) => files.remove(lock)))
  }
  for (const { ref } of gone) await removeEmpty(files, at, ref)
  await syncRefs(files, place, changes)
  return true
}

/**
 * Whether the change only renames refs: each new ref takes the value of an old one, whose objects therefore exist, and
 * at least one new ref shows recovery that the change has begun.
 */
export function isMove(changes: readonly RefChange[]): boolean {
  const old = new Set(changes.flatMap((change) => change.old ?? []))
  return changes.some(isMade) && changes.every((change) => change.new === null || old.has(change.new))
}

type Made = RefChange & { readonly old: null; readonly new: string }

function isMade(change: RefChange): change is Made {
  return change.old === null && change.new !== null
}

/** In a repository shared by several users git sets special permissions, so we leave it to git. */
function isShared(refs: string): boolean {
  return ((lstatOf(refs)?.mode ?? 0) & 0o020) !== 0
}

function areOrdinary(at: (name: string) => string, changes: readonly RefChange[]): boolean {
  const packed = readSmall(at('packed-refs'), 'latin1') ?? ''
  const head = readSmall(at('HEAD'))
  return changes.every((change) => {
    const name = Buffer.from(change.ref).toString('latin1')
    if (isMade(change)) return isFree(at, packed, change.ref, name)
    // If HEAD is on a deleted branch, git also writes the reflog of HEAD: we leave that to git.
    if (change.new !== null || packed.includes(` ${name}\n`) || head === `ref: ${change.ref}\n`) return false
    return readSmall(at(change.ref)) === `${change.old}\n`
  })
}

/**
 * No ref has this name, nor one above or below it. Git knows what to do with a folder of that name, even an empty one.
 */
function isFree(at: (name: string) => string, packed: string, ref: string, name: string): boolean {
  if (packed.includes(` ${name}\n`) || packed.includes(` ${name}/`)) return false
  return !foldersOf(name).some((folder) => packed.includes(` ${folder}\n`)) && !lstatOf(at(ref))
}

/** The folders of `refs/heads/a/b`: `refs/heads/a`. */
function foldersOf(ref: string): string[] {
  const parts = ref.split('/')
  return parts.slice(3).map((_, index) => parts.slice(0, index + 3).join('/'))
}

/** Whether git keeps a reflog of the ref. */
function isLogged(ref: string): boolean {
  return branchOf(ref) !== undefined
}

async function appendReflog(files: FileSystem, file: string, made: string, message: string): Promise<void> {
  const seconds = Math.floor(Date.now() / 1000)
  const who = `offshoot <offshoot@localhost> ${seconds} +0000`
  const line = `${'0'.repeat(made.length)} ${made} ${who}\t${message}\n`
  const text = ((await files.readText(file)) ?? '') + line
  await inFolder(files, file, () => files.write(file, text))
}

/** A symbolic link appears with its whole content or not at all, and never replaces a file. */
async function createLink(files: FileSystem, at: string, target: string): Promise<boolean> {
  try {
    await files.link(target, path.dirname(at), path.basename(at))
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw thrown
  }
}

/** A git that deletes the last ref of a folder also deletes the folder, perhaps right after we made it. */
async function inFolder<T>(files: FileSystem, file: string, write: () => Promise<T>): Promise<T> {
  for (let left = 10; ; left--) {
    await files.makeFolder(path.dirname(file))
    try {
      return await write()
    } catch (thrown) {
      if (left === 0 || (thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
    }
  }
}

async function removeEmpty(files: FileSystem, at: (name: string) => string, ref: string): Promise<void> {
  for (const folder of foldersOf(ref).toReversed()) {
    await files.removeEmptyFolder(at(folder))
    await files.removeEmptyFolder(at(`logs/${folder}`))
  }
}
