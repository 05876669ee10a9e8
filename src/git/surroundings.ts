/**
 * What a run is watched for, read before and after it: refs, the git folder without its objects, and hooks elsewhere
 * (docs/adr/0043-strays-are-kept.md).
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
} from 'node:fs'
import path from 'node:path'
import { isBelow } from '../core/base/below.ts'
import { below, type BytePath, fromBytes, toText } from '../core/model/bytes.ts'
import { entriesHash } from '../core/model/index-entries.ts'
import { registrationMark } from '../core/model/layout.ts'
import type { Place } from '../core/model/repo.ts'
import type { Surroundings, WatchedFile } from '../core/model/surroundings.ts'
import type { GitExec } from './exec.ts'
import { lstatOf, readLink, realPathOf, statOf } from './look.ts'

/** Larger files are told by size and time, and an undo cannot put them back. An index may be larger. */
const largest = 1024 * 1024
const largestIndex = 64 * 1024 * 1024

/** Of one folder, and of all; the rest is only told as more. */
const mostFiles = 1_000
const mostInAll = 20_000

/** Of all files that are kept in memory; of the rest only a hash is. */
const mostBytes = 16 * 1024 * 1024

/** Such files are kept in any case: their text is told. */
const smallest = 1_000

/** Reads everything; `seen` is the reading before the run, whose folders of hooks are read again. */
export async function readSurroundings(
  exec: GitExec,
  place: Place,
  seen?: Surroundings,
): Promise<Surroundings> {
  const [refs, hookFolders] = await Promise.all([
    readRefs(exec, place),
    seen?.hookFolders ?? findHookFolders(exec, place),
  ])
  const { commonDir } = place
  const room = { bytes: mostBytes }
  const own = watch(commonDir, true, room)
  addGitFolder(own, '', ownNames)
  const beside = hookFolders.map((folder) => {
    const watched = watch(folder, statOf(folder)?.dev === statOf(commonDir)?.dev, room)
    for (const { name } of namesIn(watched, '')) addFile(watched, name)
    return Array.from(watched.files, ([name, file]) => [`${folder}/${name}`, file] as const)
  })
  return { refs, hookFolders, files: new Map([...own.files, ...beside.flat()]) }
}

async function readRefs(exec: GitExec, { commonDir }: Place): Promise<Map<string, string>> {
  const { stdout } = await exec({
    args: [
      'for-each-ref',
      '--format=%(refname) %(if)%(symref)%(then)ref: %(symref)%(else)%(objectname)%(end)',
    ],
    gitDir: commonDir,
    cwd: commonDir,
  })
  const lines = stdout.toString().split('\n').filter(Boolean)
  return new Map(
    lines.map((line): [string, string] => {
      const space = line.indexOf(' ')
      return [line.slice(0, space), line.slice(space + 1)]
    }),
  )
}

/** The folder that `core.hooksPath` names, and that a linked `hooks` leads to, unless it is in the git folder. */
async function findHookFolders(exec: GitExec, { commonDir, gitDir, checkout }: Place): Promise<string[]> {
  const { stdout } = await exec({
    args: ['config', '-z', '--show-scope', '--type=path', '--get-all', 'core.hooksPath'],
    gitDir,
    cwd: checkout ?? gitDir,
    config: 'user',
    expect: [1, 128],
  })
  const set = lastOfUser(stdout.toString().split('\0'))
  const named = [
    path.join(commonDir, 'hooks'),
    ...(set === '' ? [] : [path.resolve(checkout ?? gitDir, set)]),
  ]
  const real = named.flatMap((folder) => realPathOf(folder) ?? [])
  return [...new Set(real)].filter((folder) => !isBelow(folder, commonDir) && statOf(folder)?.isDirectory())
}

/** Of scopes and values in turn, the last value that is not our own: ours, which switches hooks off, is of the command. */
function lastOfUser(parts: readonly string[]): string {
  const pairs = Array.from({ length: Math.floor(parts.length / 2) }, (_, n) => parts.slice(2 * n, 2 * n + 2))
  return pairs.findLast(([scope]) => scope !== 'command')?.[1] ?? ''
}

interface Watch {
  readonly folder: string
  readonly isNear: boolean
  readonly files: Map<string, WatchedFile>
  /** How many files there are in each folder. */
  readonly counts: Map<string, number>
  /** How many bytes may still be kept. */
  readonly room: { bytes: number }
}

const watch = (folder: string, isNear: boolean, room: Watch['room']): Watch => ({
  folder,
  isNear,
  files: new Map(),
  counts: new Map(),
  room,
})

/**
 * What git itself writes all the time, and what acts on nothing: the objects, the logs of refs, notes of the last fetch,
 * commit and clean-up, the daemon's own files, locks. Folders of offshoot are ours.
 */
const passing =
  /^(?:objects|logs|lfs|annex|FETCH_HEAD|ORIG_HEAD|COMMIT_EDITMSG|gc\.(?:log|pid)|(?:fsmonitor--daemon|sharedindex\.|offshoot-).*|.*\.lock)$/

/** Refs of the repository itself are asked of git. */
const ownNames = /^(?:refs|reftable|packed-refs)$/
const noNames = /^$/

/** Adds a git folder: that of the repository, a submodule's, or the registration of a worktree. */
function addGitFolder(watched: Watch, folder: BytePath, left: RegExp): void {
  const inside = (name: BytePath) => joined(folder, name)
  const entries = namesIn(watched, folder).filter(({ name }) => !passing.test(name) && !left.test(name))
  // Single files first, then what git reads: many files of some other tool must not crowd them out.
  for (const { name, isFolder } of entries) if (!isFolder) addFile(watched, inside(name), name === 'index')
  for (const name of ['alternates', 'http-alternates']) addFile(watched, inside(`objects/info/${name}`))
  for (const { name, isFolder } of entries.toSorted((a, b) => rank(a.name) - rank(b.name))) {
    if (!isFolder) continue
    if (name === 'modules') addModules(watched, inside(name))
    else if (name === 'worktrees') addWorktrees(watched, inside(name))
    else addFolder(watched, inside(name))
  }
}

function rank(name: BytePath): number {
  return ['hooks', 'info', 'modules', 'worktrees'].includes(name) ? 0 : 1
}

/** The name of a submodule may have several parts, so its git folder may be at any depth. */
function addModules(watched: Watch, folder: BytePath): void {
  for (const { name, isFolder } of namesIn(watched, folder)) {
    const inner = joined(folder, name)
    if (!isFolder) addFile(watched, inner)
    else if (lstatOf(full(watched, `${inner}/HEAD`))) addGitFolder(watched, inner, noNames)
    else addModules(watched, inner)
  }
}

/** The workspaces of tasks are not watched: a run works in one of them, and others may come and go. */
function addWorktrees(watched: Watch, folder: BytePath): void {
  for (const { name, isFolder } of namesIn(watched, folder)) {
    const inner = joined(folder, name)
    if (isFolder && !lstatOf(full(watched, `${inner}/${registrationMark}`)))
      addGitFolder(watched, inner, noNames)
  }
}

function addFolder(watched: Watch, folder: BytePath): void {
  for (const { name, isFolder } of namesIn(watched, folder)) {
    const inner = joined(folder, name)
    // Written by every clean-up of git, for servers that know only files.
    if (inner === 'info/refs') continue
    if (isFolder) addFolder(watched, inner)
    else addFile(watched, inner)
  }
}

function joined(folder: BytePath, name: BytePath): BytePath {
  return folder === '' ? name : `${folder}/${name}`
}

function full({ folder }: Watch, file: BytePath): string {
  return path.join(folder, toText(file))
}

interface Name {
  readonly name: BytePath
  readonly isFolder: boolean
}

function namesIn({ folder: root }: Watch, folder: BytePath): Name[] {
  let entries: Dirent<Buffer>[] = []
  try {
    entries = readdirSync(below(root, folder), { withFileTypes: true, encoding: 'buffer' })
  } catch {
    // It is not there, or may not be read: then nothing in it is there.
  }
  const names = entries.map((entry) => ({ name: fromBytes(entry.name), isFolder: entry.isDirectory() }))
  return names.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function addFile(watched: Watch, file: BytePath, isIndex = false): void {
  const { files, counts, folder, isNear } = watched
  const parent = path.dirname(file)
  const count = (counts.get(parent) ?? 0) + 1
  counts.set(parent, count)
  if (count > mostFiles || files.size >= mostInAll) return addMore(watched, parent, count)
  const found = readWatched(full(watched, file), isIndex)
  if (found) files.set(toText(file), { folder, path: file, isNear, ...withinRoom(watched.room, file, found) })
}

function addMore({ files, folder, isNear }: Watch, parent: BytePath, count: number): void {
  const more = path.join(parent, 'and more')
  const found = { kind: 'special', permissions: 0, content: undefined, look: `${count} files` } as const
  files.set(toText(more), { folder, path: more, isNear, ...found })
}

/** Keeps the content, or its hash when there is no more room. The index of the checkout has room of its own. */
function withinRoom(room: Watch['room'], file: BytePath, found: Read): Read {
  const { kind, content } = found
  if (!content || kind === 'link' || content.length < smallest || file === 'index') return found
  room.bytes -= content.length
  if (room.bytes >= 0) return found
  const look =
    (kind === 'index' && entriesHash(content)) || createHash('sha256').update(content).digest('hex')
  return { ...found, content: undefined, look }
}

type Read = Pick<WatchedFile, 'kind' | 'permissions' | 'content' | 'look'>

function readWatched(file: string, isIndex: boolean): Read | undefined {
  const there = lstatOf(file)
  if (!there || there.isDirectory()) return undefined
  if (there.isSymbolicLink()) return readLinked(file)
  if (!there.isFile()) return { kind: 'special', permissions: 0, content: undefined, look: '' }
  const content = readPlain(file, isIndex ? largestIndex : largest, constants.O_NOFOLLOW)
  const permissions = there.mode & 0o777
  return { kind: isIndex ? 'index' : 'file', permissions, content, look: content ? '' : lookOf(there) }
}

/** Git runs what a linked hook leads to, so that counts, too. */
function readLinked(file: string): Read {
  const led = readPlain(file, largest, 0)
  const look = led ? createHash('sha256').update(led).digest('hex') : ''
  return { kind: 'link', permissions: 0, content: Buffer.from(readLink(file) ?? ''), look }
}

function lookOf({ size, mtimeMs }: Stats): string {
  return `${size} bytes of ${new Date(mtimeMs).toISOString()}`
}

/** Undefined for a file that is too large, or none. A pipe that somebody put there meanwhile does not stop us. */
function readPlain(file: string, limit: number, flags: number): Buffer | undefined {
  let handle: number | undefined
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | flags)
    const stat = fstatSync(handle)
    if (!stat.isFile() || stat.size > limit) return undefined
    const content = Buffer.alloc(stat.size)
    return content.subarray(0, readSync(handle, content))
  } catch {
    return undefined
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}
