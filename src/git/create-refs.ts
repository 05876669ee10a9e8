/** New refs made in process, by the steps that git itself takes: a lock beside each, its log, and the lock takes the name. */
import path from 'node:path'
import { allEnded } from '../core/all-ended.ts'
import type { Files, NewRef, Place } from '../core/ports.ts'
import { lstatOf, readSmall } from './look.ts'

/** False when anything is out of the ordinary: nothing is changed then, and git is to judge. Locks are left to the caller. */
export async function createRefs(
  files: Files,
  place: Place,
  refs: readonly NewRef[],
  message: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const at = (name: string) => path.join(place.commonDir, name)
  if (isShared(at('refs')) || !allFree(at, refs)) return false
  const locks = refs.map(({ ref }) => at(`${ref}.lock`))
  const made: string[] = []
  const withdraw = () => allEnded(made.map((lock) => files.remove(lock)))
  for (const [index, lock] of locks.entries()) {
    signal?.throwIfAborted()
    await files.makeFolder(path.dirname(lock))
    if (!(await files.writeNew(lock, `${refs[index]?.new}\n`))) return await withdraw(), false
    made.push(lock)
  }
  // Nobody else can make them any more; they may have been made while we went about it.
  if (!allFree(at, refs)) return await withdraw(), false
  await files.syncFiles(locks)
  signal?.throwIfAborted()
  for (const [index, ref] of refs.entries()) {
    if (isLogged(ref.ref)) await log(files, at(`logs/${ref.ref}`), ref, message)
    await files.rename(locks[index]!, at(ref.ref))
  }
  return true
}

/** Where several users write, git gives each file the permissions that were agreed on. */
function isShared(refs: string): boolean {
  return ((lstatOf(refs)?.mode ?? 0) & 0o020) !== 0
}

/** Nothing has any of the names, nor a name above or below one of them. A folder may be empty: git knows what to do then. */
function allFree(at: (name: string) => string, refs: readonly NewRef[]): boolean {
  const packed = readSmall(at('packed-refs'), 'latin1') ?? ''
  for (const { ref } of refs) {
    const name = Buffer.from(ref).toString('latin1')
    if (packed.includes(` ${name}\n`) || packed.includes(` ${name}/`)) return false
    if (foldersOf(name).some((folder) => packed.includes(` ${folder}\n`))) return false
    if (lstatOf(at(ref))) return false
  }
  return true
}

/** `refs/heads/a/b`: `refs/heads/a`. */
function foldersOf(ref: string): string[] {
  const parts = ref.split('/')
  return parts.slice(3).map((_, index) => parts.slice(0, index + 3).join('/'))
}

/** Those that git keeps a log of. */
function isLogged(ref: string): boolean {
  return ref.startsWith('refs/heads/')
}

async function log(files: Files, file: string, ref: NewRef, message: string): Promise<void> {
  const seconds = Math.floor(Date.now() / 1000)
  const who = `offshoot <offshoot@localhost> ${seconds} +0000`
  const line = `${'0'.repeat(ref.new.length)} ${ref.new} ${who}\t${message}\n`
  await files.makeFolder(path.dirname(file))
  await files.write(file, ((await files.readText(file)) ?? '') + line)
}
