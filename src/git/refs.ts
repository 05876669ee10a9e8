import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
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

/** The commit that a revision names. HEAD on a branch, by far the most frequent, costs no process. */
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

/** A ref as git keeps it, in a file of its own or packed with others; what points to another ref is followed by git. */
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

/** Branches that a branch of this name cannot stand beside: the same one, `a` for `a/b`, `a/b` for `a`. */
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
  for (const name of await looseBelow(path.join(place.commonDir, wanted))) rivals.add(`${wanted}/${name}`)
  return Array.from(rivals).flatMap((ref) => branchOf(ref) ?? [])
}

/** Folders that hold no ref are left behind when the last one goes. */
async function looseBelow(folder: string): Promise<string[]> {
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
  place: Place,
  changes: readonly RefChange[],
  message: string,
  signal?: AbortSignal,
): Promise<boolean> {
  // To `git stash` a stash without a log is none.
  const logs = changes.some(({ ref }) => ref === 'refs/stash') ? ['--create-reflog'] : []
  const { code, stderr } = await exec({
    args: ['update-ref', '--stdin', '-z', ...logs, '-m', message],
    gitDir: place.commonDir,
    cwd: place.commonDir,
    stdin: refCommands(changes),
    // A ref that a power cut leaves empty would keep the user's own git from collecting garbage, and from pushing.
    durable: true,
    // A lock that a kill has left is put away by whoever recovers, who waits first to be sure that nobody is at work.
    settings: [['core.packedRefsTimeout', String(5 * patienceMs)]],
    expect: [1, 128],
    signal,
  })
  if (code === 0) return true
  for (const change of changes) {
    const now = await findRef(exec, place, change.ref, signal)
    if ((now ?? null) !== change.old) return false
  }
  const names = [...changes.map(({ ref }) => ref), 'packed-refs', 'HEAD']
  const lock = names.map((name) => path.join(place.commonDir, `${name}.lock`)).find(lstatOf)
  if (lock !== undefined)
    throw new AppError('locked', `Another git is at work here, or left ${lock} behind.`, {
      path: lock,
      hint: 'Wait for it to end; if none is running, remove that file.',
    })
  throw new AppError('failed', `git update-ref failed: ${stderr.trim()}`, { path: place.commonDir })
}

export async function moveHead(exec: GitExec, place: Place, branch: string, message: string): Promise<void> {
  if ((await readHeadBranch(place)) === branch) return
  await exec({
    args: ['symbolic-ref', '-m', message, 'HEAD', branchRef(branch)],
    gitDir: place.gitDir,
    cwd: place.gitDir,
    durable: true,
  })
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
 * Takes away what a power cut left of a ref: a file that says nothing, which git neither reads nor writes over. Below
 * our own refs only we write: there anything goes that is no ref. One that was packed before is back then.
 */
export async function clearBrokenRef(files: FileSystem, place: Place, ref: string): Promise<void> {
  const file = path.join(place.commonDir, ref)
  const text = readSmall(file)
  if (text === undefined || object.test(text) || text.startsWith('ref: ')) return
  if (/^\0*$/.test(text) || isOurs(ref)) await files.remove(file)
}

/** Nothing that is older than `since`. */
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
    // Git writes the log first: killed then, it leaves the log of a ref that never was.
    const isLogged = isRecent(findTime(at(`logs/${ref}`)), since)
    if (isLogged && !isRef(at, ref)) await files.remove(at(`logs/${ref}`))
    const folder = path.dirname(at(`logs/${ref}`))
    // Once for all of them: the logs of everything in the trash are in one folder.
    const found = drafts.get(folder) ?? (await files.readNames(folder)).filter((name) => draft.test(name))
    drafts.set(folder, found)
    await clearDrafts(files, at(`logs/${ref}`), found, since)
  }
  const shared = at('packed-refs.lock')
  const mark = readLink(shared)
  if (refs.some((ref) => sharedLockMark(ref) === mark)) await files.remove(shared)
}

/**
 * Where our lock of the packed refs leads to, as it is a link that leads nowhere: whoever recovers a change of that ref knows
 * by it that the lock is ours. To git it is a lock like any other.
 */
export function sharedLockMark(ref: string): string {
  return `offshoot:${ref}`
}

const draft = /\.[0-9a-f]{12}\.tmp$/

/** A log of ours that was killed before it took its name. */
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

/** Git itself waits half as long: whoever holds such a lock longer is dead, or stands in the way of every git. */
const patienceMs = 2_000

/**
 * Deleting a ref locks the packed refs, and changing the branch that is checked out locks HEAD; so does the user's own
 * git, and its locks look just like that. One is ours that was made while a git of ours was at work that did not end by
 * itself: any other takes its locks away. One that was made later is not ours, however long it has been there.
 */
export async function clearSharedLocks(files: FileSystem, { gitDir, from, to }: LeftBehind): Promise<void> {
  const at = (name: string) => path.join(gitDir, name)
  const locks = ['packed-refs.lock', 'HEAD.lock'].map(at)
  const seen = locks.map(findTime)
  // The clock tells whole milliseconds, a file has parts of them.
  const isOurs = (time: number | undefined) => isRecent(time, from) && time < (to ?? from + patienceMs) + 1
  if (!seen.some(isOurs)) return
  // Somebody else may have taken it in the same moment, and be at work.
  await pause(patienceMs)
  for (const [index, lock] of locks.entries()) {
    if (!isOurs(seen[index]) || findTime(lock) !== seen[index]) continue
    // What git was writing under that lock; it refuses to write it over.
    if (lock === at('packed-refs.lock')) await files.remove(at('packed-refs.new'))
    await files.remove(lock)
  }
}

/** The time of a new file may be a tick of the kernel behind the clock. */
const tickMs = 20

function isRecent(time: number | undefined, since: number): time is number {
  return time !== undefined && time >= since - tickMs
}

function findTime(file: string): number | undefined {
  return lstatOf(file)?.mtimeMs
}
