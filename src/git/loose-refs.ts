/**
 * Refs made and deleted in process, by the steps that git itself takes: a lock beside each, its log, and then the ref. Why not
 * by `git update-ref`: docs/adr/0018-refs-in-process.md.
 */
import path from 'node:path'
import { allEnded } from '../core/base/concurrency.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { Place } from '../core/model/repo.ts'
import type { RefChange } from '../core/model/git.ts'
import { branchOf } from '../core/model/refs.ts'
import { lstatOf, readSmall } from './look.ts'
import { sharedLockMark } from './refs.ts'

/** False when anything is out of the ordinary: nothing is changed then, and git is to judge. */
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
  const held = new Set<string>()
  try {
    for (const { file, text } of locks) {
      signal?.throwIfAborted()
      if (!(await inFolder(files, file, () => files.writeNew(file, text)))) return false
      held.add(file)
    }
    // Whoever packs refs meanwhile would bring back what is deleted.
    const [first] = gone
    if (first) {
      const packed = at('packed-refs.lock')
      if (!(await isLinked(files, packed, sharedLockMark(first.ref)))) return false
      held.add(packed)
    }
    // Nobody else can change them any more; somebody may have while we went about it.
    if (!areOrdinary(at, changes)) return false
    if (made.length > 0) await files.sync(made.map(({ ref }) => at(`${ref}.lock`)))
    signal?.throwIfAborted()
    for (const { ref, new: to } of made) {
      if (isLogged(ref)) await log(files, at(`logs/${ref}`), to, message)
      await files.rename(at(`${ref}.lock`), at(ref))
      held.delete(at(`${ref}.lock`))
    }
    // The log first, as git does it: a ref without one is less bad than the log of no ref.
    for (const { ref } of gone) {
      await files.remove(at(`logs/${ref}`))
      await files.remove(at(ref))
    }
  } finally {
    await allEnded(Array.from(held, (lock) => files.remove(lock)))
  }
  for (const { ref } of gone) await removeEmpty(files, at, ref)
  return true
}

/**
 * Whether names change and nothing else: what the new ones are to point at is there, as others pointed at it till now, and
 * they tell later that the change has begun.
 */
export function isMove(changes: readonly RefChange[]): boolean {
  const old = new Set(changes.flatMap((change) => change.old ?? []))
  return changes.some(isMade) && changes.every((change) => change.new === null || old.has(change.new))
}

type Made = RefChange & { readonly old: null; readonly new: string }

function isMade(change: RefChange): change is Made {
  return change.old === null && change.new !== null
}

/** Where several users write, git gives each file the permissions that were agreed on. */
function isShared(refs: string): boolean {
  return ((lstatOf(refs)?.mode ?? 0) & 0o020) !== 0
}

function areOrdinary(at: (name: string) => string, changes: readonly RefChange[]): boolean {
  const packed = readSmall(at('packed-refs'), 'latin1') ?? ''
  const head = readSmall(at('HEAD'))
  return changes.every((change) => {
    const name = Buffer.from(change.ref).toString('latin1')
    if (isMade(change)) return isFree(at, packed, change.ref, name)
    // The log of HEAD tells when the branch that it is on goes: that is left to git.
    if (change.new !== null || packed.includes(` ${name}\n`) || head === `ref: ${change.ref}\n`) return false
    return readSmall(at(change.ref)) === `${change.old}\n`
  })
}

/** Nothing has the name, nor a name above or below it. A folder may be empty: git knows what to do then. */
function isFree(at: (name: string) => string, packed: string, ref: string, name: string): boolean {
  if (packed.includes(` ${name}\n`) || packed.includes(` ${name}/`)) return false
  return !foldersOf(name).some((folder) => packed.includes(` ${folder}\n`)) && !lstatOf(at(ref))
}

/** `refs/heads/a/b`: `refs/heads/a`. */
function foldersOf(ref: string): string[] {
  const parts = ref.split('/')
  return parts.slice(3).map((_, index) => parts.slice(0, index + 3).join('/'))
}

/** Those that git keeps a log of. */
function isLogged(ref: string): boolean {
  return branchOf(ref) !== undefined
}

async function log(files: FileSystem, file: string, made: string, message: string): Promise<void> {
  const seconds = Math.floor(Date.now() / 1000)
  const who = `offshoot <offshoot@localhost> ${seconds} +0000`
  const line = `${'0'.repeat(made.length)} ${made} ${who}\t${message}\n`
  const text = ((await files.readText(file)) ?? '') + line
  await inFolder(files, file, () => files.write(file, text))
}

/** A link is there with all that it says, or not at all, and only where nothing was. */
async function isLinked(files: FileSystem, at: string, target: string): Promise<boolean> {
  try {
    await files.link(target, at)
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw thrown
  }
}

/** Whoever deletes the last ref of a folder takes the folder along, also when it was made for us just now. */
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
