/** Refs, reflogs and their locks, read from git's files and changed by git (docs/adr/0018-refs-in-process.md). */
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { quoted } from '../core/base/shell-quote.ts'
import { AppError } from '../core/model/errors.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { LeftBehind, RefChange } from '../core/model/git.ts'
import type { Place } from '../core/model/repo.ts'
import { branchOf, branchOfHead, branchRef, isOurs } from '../core/model/refs.ts'
import type { GitExec } from './exec.ts'
import { lstatOf, readLink, readSmall } from './look.ts'

const object = /^([0-9a-f]{40}|[0-9a-f]{64})\n?$/

export async function readHeadBranch(place: Place): Promise<string | null> {
  const text = readFileSync(path.join(place.gitDir, 'HEAD'), 'utf8')
  return branchOfHead(text)
}

/** The commit that a revision names. HEAD on a branch, by far the most frequent one, needs no process. */
export async function findCommit(exec: GitExec, place: Place, rev: string, signal?: AbortSignal) {
  if (rev === 'HEAD') {
    const branch = await readHeadBranch(place)
    const known = branch === null ? undefined : await findRef(exec, place, branchRef(branch), signal)
    if (known !== undefined) return known
  }
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${rev}^{commit}`]
  const { code, stdout } = await exec({
    args,
    gitDir: place.gitDir,
    cwd: place.gitDir,
    expect: [1, 128],
    signal,
  })
  return code === 0 ? stdout.toString().trim() : undefined
}

/** The value of a ref, loose or packed. Git follows a symbolic ref. */
export async function findRef(exec: GitExec, place: Place, ref: string, signal?: AbortSignal) {
  const loose = readSmall(path.join(place.commonDir, ref))
  if (loose === undefined) return findPacked(place, ref)
  const value = object.exec(loose)?.[1]
  if (value !== undefined) return value
  const args = ['show-ref', '--verify', '--hash', '--', ref]
  const { code, stdout } = await exec({
    args,
    gitDir: place.commonDir,
    cwd: place.commonDir,
    expect: [1, 128],
    signal,
  })
  return code === 0 ? stdout.toString().trim() : undefined
}

function findPacked(place: Place, ref: string): string | undefined {
  const packed = readSmall(path.join(place.commonDir, 'packed-refs'), 'latin1') ?? ''
  const at = packed.indexOf(` ${Buffer.from(ref).toString('latin1')}\n`)
  return at === -1 ? undefined : object.exec(packed.slice(packed.lastIndexOf('\n', at) + 1, at))?.[1]
}

export async function readRefs(
  exec: GitExec,
  place: Place,
  below: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, string>> {
  const { stdout } = await exec({
    args: ['for-each-ref', '--format=%(objectname) %(refname)', ...below],
    gitDir: place.commonDir,
    cwd: place.commonDir,
    signal,
  })
  const lines = stdout.toString().split('\n').filter(Boolean)
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

/** Branches that exclude a branch of this name: the same one, `a` for `a/b`, `a/b` for `a`. */
export async function findRivals(place: Place, branch: string): Promise<string[]> {
  const wanted = branchRef(branch)
  const parts = branch.split('/')
  const above = parts.map((_, index) => branchRef(parts.slice(0, index + 1).join('/')))
  const packed = readSmall(path.join(place.commonDir, 'packed-refs'), 'latin1') ?? ''
  const listed = Array.from(packed.matchAll(/^[0-9a-f]+ (refs\/.+)$/gm), ([, ref = '']) => {
    return Buffer.from(ref, 'latin1').toString()
  })
  const rivals = new Set(listed.filter((ref) => above.includes(ref) || ref.startsWith(`${wanted}/`)))
  for (const ref of above) {
    const found = lstatOf(path.join(place.commonDir, ref))
    if (found && !found.isDirectory()) rivals.add(ref)
  }
  for (const name of await readLooseBelow(path.join(place.commonDir, wanted))) rivals.add(`${wanted}/${name}`)
  return Array.from(rivals).flatMap((ref) => branchOf(ref) ?? [])
}

/** The loose refs below a folder. Empty folders remain when the last ref is deleted, and do not count. */
async function readLooseBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => !entry.isDirectory() && !entry.name.endsWith('.lock'))
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
}

export async function findReflogMessage(place: Place, ref: string): Promise<string | undefined> {
  return (await readReflogMessages(place, ref)).at(-1)
}

export async function isInReflog(place: Place, ref: string, message: string): Promise<boolean> {
  return (await readReflogMessages(place, ref)).includes(message)
}

async function readReflogMessages(place: Place, ref: string): Promise<(string | undefined)[]> {
  const log = readSmall(path.join(place.commonDir, 'logs', ref)) ?? ''
  return log
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t')[1])
}

export async function changeRefs(
  exec: GitExec,
  files: FileSystem,
  place: Place,
  changes: readonly RefChange[],
  message: string,
  signal?: AbortSignal,
): Promise<boolean> {
  // `git stash` ignores a stash without a reflog.
  const logs = changes.some(({ ref }) => ref === 'refs/stash') ? ['--create-reflog'] : []
  const { code, stderr } = await exec({
    args: ['update-ref', '--stdin', '-z', ...logs, '-m', message],
    gitDir: place.commonDir,
    cwd: place.commonDir,
    stdin: refCommands(changes),
    // A power cut can leave a ref empty, and with such a ref the user's own gc and push fail.
    durable: true,
    // Recovery removes locks of a killed git, and waits `patienceMs` before; this git must wait longer than that.
    settings: [['core.packedRefsTimeout', String(5 * patienceMs)]],
    expect: [1, 128],
    signal,
  })
  if (code === 0) {
    await syncRefs(files, place, changes)
    return true
  }
  for (const change of changes) {
    const now = await findRef(exec, place, change.ref, signal)
    if ((now ?? null) !== change.old) return false
  }
  const names = [...changes.map(({ ref }) => ref), 'packed-refs', 'HEAD']
  const lock = names.map((name) => path.join(place.commonDir, `${name}.lock`)).find(lstatOf)
  if (lock !== undefined)
    throw new AppError('locked', `Another git is at work here, or left ${lock} behind.`, {
      path: lock,
      hint: `Wait for it to end; if none is running: rm ${quoted(lock)}`,
    })
  throw new AppError('failed', `git update-ref failed: ${stderr.trim()}`, { path: place.commonDir })
}

/**
 * Makes the names of changed refs durable, which git never does (docs/adr/0058-names-are-synced.md): the folder of each ref,
 * those above it, which may be new, and that of the packed refs if one is deleted.
 */
export async function syncRefs(
  files: FileSystem,
  place: Place,
  changes: readonly RefChange[],
): Promise<void> {
  const folders = new Set(changes.some((change) => change.new === null) ? [place.commonDir] : [])
  for (const { ref } of changes)
    for (let at = path.posix.dirname(ref); at !== '.'; at = path.posix.dirname(at)) {
      const folder = path.join(place.commonDir, at)
      if (lstatOf(folder)?.isDirectory()) folders.add(folder)
    }
  await files.sync([...folders])
}

export async function moveHead(
  exec: GitExec,
  files: FileSystem,
  place: Place,
  branch: string,
  message: string,
): Promise<void> {
  if ((await readHeadBranch(place)) === branch) return
  await exec({
    args: ['symbolic-ref', '-m', message, 'HEAD', branchRef(branch)],
    gitDir: place.gitDir,
    cwd: place.gitDir,
    durable: true,
  })
  await files.sync([place.gitDir])
}

export function refCommands(changes: readonly RefChange[]): string {
  return changes
    .map((change) => {
      if (change.new === null) return `delete ${change.ref}\0${change.old ?? ''}\0`
      if (change.old === null) return `create ${change.ref}\0${change.new}\0`
      return `update ${change.ref}\0${change.new}\0${change.old}\0`
    })
    .map((command) => `option no-deref\0${command}`)
    .join('')
}

/**
 * Deletes a ref file that a power cut left empty: git neither reads nor overwrites it. Below `refs/offshoot/` only we
 * write, so there any file that is no ref is deleted. A packed value of the ref then counts again.
 */
export async function clearBrokenRef(files: FileSystem, place: Place, ref: string): Promise<void> {
  const file = path.join(place.commonDir, ref)
  const text = readSmall(file)
  if (text === undefined || object.test(text) || text.startsWith('ref: ')) return
  if (/^\0*$/.test(text) || isOurs(ref)) await files.remove(file)
}

/** Removes locks, reflogs and drafts that a killed change of these refs left, but none older than `since`. */
export async function clearRefLocks(
  files: FileSystem,
  place: Place,
  refs: readonly string[],
  since = 0,
): Promise<void> {
  const at = (name: string) => path.join(place.commonDir, name)
  const drafts = new Map<string, string[]>()
  for (const ref of refs) {
    if (isRecent(findTime(at(`${ref}.lock`)), since)) await files.remove(at(`${ref}.lock`))
    // Git writes the reflog first: killed then, it leaves the reflog of a ref that never existed.
    const isLogged = isRecent(findTime(at(`logs/${ref}`)), since)
    if (isLogged && !isRef(at, ref)) await files.remove(at(`logs/${ref}`))
    const folder = path.dirname(at(`logs/${ref}`))
    // Each folder is listed once: the reflogs of all closed tasks are in the same one.
    const found = drafts.get(folder) ?? (await files.readNames(folder)).filter((name) => draft.test(name))
    drafts.set(folder, found)
    await clearDrafts(files, at(`logs/${ref}`), found, since)
  }
  const shared = at('packed-refs.lock')
  const mark = readLink(shared)
  if (refs.some((ref) => sharedLockMark(ref) === mark)) await files.remove(shared)
}

/**
 * The target of our packed-refs.lock, a link that leads nowhere. Recovery of a change of `ref` knows by it that the
 * lock is ours. To git it is a lock like any other.
 */
export function sharedLockMark(ref: string): string {
  return `offshoot:${ref}`
}

const draft = /\.[0-9a-f]{12}\.tmp$/

/** Removes drafts of a reflog: we were killed before we renamed them. */
async function clearDrafts(
  files: FileSystem,
  log: string,
  drafts: readonly string[],
  since: number,
): Promise<void> {
  for (const name of drafts.filter((one) => one.startsWith(`.${path.basename(log)}.`))) {
    const file = path.join(path.dirname(log), name)
    if (isRecent(findTime(file), since)) await files.remove(file)
  }
}

function isRef(at: (name: string) => string, ref: string): boolean {
  if (findTime(at(ref)) !== undefined) return true
  const packed = readSmall(at('packed-refs')) ?? ''
  return packed.includes(` ${ref}\n`)
}

/** Git waits half as long for such a lock: its holder is dead by then, or blocks every git. */
const patienceMs = 2_000

/**
 * Deleting a ref locks the packed refs, and changing the checked-out branch locks HEAD. The user's own git takes the
 * same locks, which look alike. A lock is ours if it was made while a killed git of ours ran: a git that ends by
 * itself removes its locks. A lock that was made later is not ours, however old it is.
 */
export async function clearSharedLocks(files: FileSystem, { gitDir, from, to }: LeftBehind): Promise<void> {
  const at = (name: string) => path.join(gitDir, name)
  const locks = ['packed-refs.lock', 'HEAD.lock'].map(at)
  const seen = locks.map(findTime)
  // The clock has whole milliseconds, the time of a file has fractions of them.
  const isOurs = (time: number | undefined) => isRecent(time, from) && time < (to ?? from + patienceMs) + 1
  if (!seen.some(isOurs)) return
  // Another git may have taken the lock in the same moment, and still be running.
  await pause(patienceMs)
  for (const [index, lock] of locks.entries()) {
    if (!isOurs(seen[index]) || findTime(lock) !== seen[index]) continue
    // Git was writing this file under the lock, and refuses to overwrite it.
    if (lock === at('packed-refs.lock')) await files.remove(at('packed-refs.new'))
    await files.remove(lock)
  }
}

/** The time of a new file may be one kernel tick behind the clock. */
const tickMs = 20

function isRecent(time: number | undefined, since: number): time is number {
  return time !== undefined && time >= since - tickMs
}

function findTime(file: string): number | undefined {
  return lstatOf(file)?.mtimeMs
}
