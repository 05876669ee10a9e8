/** Whether a folder is ours alone, and nobody else can put another in its place (docs/adr/0030-own-ground.md). */
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import path from 'node:path'

/** What is wrong with a place. */
export interface Flaw {
  readonly path: string
  /** Completes a sentence that begins with the path. */
  readonly why: string
  /** `open`: ours, and others get in. `loose`: others can replace what is in it. `foreign`: of another user, or no folder. */
  readonly kind: 'open' | 'loose' | 'foreign'
}

/** Whose ground it has to be. */
export interface Ground {
  readonly us: number
  /** The owner of `/`: root, or who stands for root in a user namespace. Nobody is safe from them. */
  readonly root: number
  /** Whether a group has no member but us. */
  readonly isOurGroup: (gid: number) => boolean
}

type Seen = Pick<Stats, 'uid' | 'gid' | 'mode'>

const forOthers = 0o077
const groupWrites = 0o020
const allWrite = 0o002
const sticky = 0o1000

/** The flaw of a folder that has to be private; undefined when it has none, or when the system knows no users. */
export function findFlaw(folder: string): Flaw | undefined {
  return onGround((ground) => {
    const end = walk(folder, ground)
    return 'why' in end ? end : named(end.path, folderFlaw(lstatSync(end.path), ground))
  })
}

/** The first thing in a private folder that somebody else has put there, or that they could replace behind a link of ours. */
export function findForeign(folder: string): Flaw | undefined {
  return onGround((ground) => {
    for (const name of readdirSync(folder)) {
      const file = path.join(folder, name)
      const found = lstatSync(file, { throwIfNoEntry: false })
      const flaw = found && (named(file, ownFlaw(found, ground)) ?? linkFlaw(file, found, ground))
      if (flaw) return flaw
    }
    return undefined
  })
}

function onGround(look: (ground: Ground) => Flaw | undefined): Flaw | undefined {
  const us = process.geteuid?.()
  if (us === undefined) return undefined
  return look({ us, root: lstatSync('/').uid, isOurGroup: (gid) => isOurGroup(us, gid) })
}

type Why = Omit<Flaw, 'path'>

const named = (file: string, why: Why | undefined): Flaw | undefined => why && { path: file, ...why }

/** A folder that was linked to another disk. */
function linkFlaw(file: string, found: Stats, ground: Ground): Flaw | undefined {
  if (!found.isSymbolicLink()) return undefined
  const end = walk(file, ground)
  if ('why' in end) return end
  const target = lstatSync(end.path, { throwIfNoEntry: false })
  return target && named(end.path, ownFlaw(target, ground))
}

const mostLinks = 40

/**
 * Goes the way to a file as the kernel does, link by link, and looks at every folder and every link of it. Answers the
 * first flaw, or else the end of the way, with no link in it: the file, or the first part that does not exist.
 */
function walk(file: string, ground: Ground): Flaw | { readonly path: string } {
  let at = path.parse(file).root
  const left = partsOf(file)
  for (let links = 0; left.length > 0; ) {
    const next = path.join(at, left.shift()!)
    const found = lstatSync(next, { throwIfNoEntry: false })
    if (!found) return { path: next }
    const why = wayFlaw(found, ground)
    if (found.isSymbolicLink()) {
      if (++links > mostLinks || why?.kind === 'foreign') return { path: next, ...(why ?? tooMany) }
      const target = readlinkSync(next)
      left.unshift(...partsOf(target))
      if (path.isAbsolute(target)) at = path.parse(target).root
    } else {
      if (why && left.length > 0) return { path: next, ...why }
      at = next
    }
  }
  return { path: at }
}

const partsOf = (file: string) => file.split(path.sep).filter((part) => part !== '' && part !== '.')

const tooMany: Why = { kind: 'foreign', why: 'is a link that leads to itself' }

/** The flaw of a folder on the way: its owner, or whoever may write to it, can put another folder into the place of the next. */
export function wayFlaw({ uid, gid, mode }: Seen, { us, root, isOurGroup }: Ground): Why | undefined {
  if (uid !== us && uid !== root && uid !== 0) return belongsTo(uid)
  if (mode & sticky) return undefined
  const isLoose = mode & allWrite || (mode & groupWrites && !isOurGroup(gid))
  return isLoose ? { kind: 'loose', why: 'can be written by others' } : undefined
}

/** The flaw of a folder that has to be private. */
export function folderFlaw(seen: Seen & Pick<Stats, 'isDirectory'>, ground: Ground): Why | undefined {
  const foreign = ownFlaw(seen, ground)
  if (foreign) return foreign
  if (!seen.isDirectory()) return { kind: 'foreign', why: 'is no folder' }
  if (seen.mode & sticky) return { kind: 'foreign', why: 'is a folder for everybody' }
  return seen.mode & forOthers ? { kind: 'open', why: 'is open to others' } : undefined
}

function ownFlaw({ uid }: Seen, { us }: Ground): Why | undefined {
  return uid === us ? undefined : belongsTo(uid)
}

const belongsTo = (uid: number): Why => ({ kind: 'foreign', why: `belongs to another user (${uid})` })

/** Systems that give each user a group of their own often let it write. */
function isOurGroup(us: number, gid: number): boolean {
  try {
    return hasOnly(us, gid, readFileSync('/etc/passwd', 'utf8'), readFileSync('/etc/group', 'utf8'))
  } catch {
    return false
  }
}

/** Whether a group is the first group of that user and of nobody else, and has no other member. */
export function hasOnly(user: number, gid: number, passwd: string, groups: string): boolean {
  const rows = (text: string) => text.split('\n').map((line) => line.split(':'))
  const first = rows(passwd).filter(([, , , group]) => group === String(gid))
  const members = rows(groups).flatMap(([, , group, names]) =>
    group === String(gid) ? (names ?? '').split(',').filter(Boolean) : [],
  )
  return (
    first.length > 0 &&
    first.every(([, , uid]) => uid === String(user)) &&
    members.every((name) => first.some(([one]) => one === name))
  )
}
