/** Records of running children, so that recovery can end them after their owner was killed. */
import { lstatSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { makeFolders } from '../files/make-folders.ts'
import { readPlain, writeDurable, writePlain } from '../files/plain.ts'
import type { Owner } from '../core/model/task.ts'

/** A child that leads a process group of its own. */
export interface ChildRecord {
  readonly pid: number
  /** undefined when the owner was killed while it wrote the record: another process may have the pid by now. */
  readonly startedAt: string | undefined
  /** The git folder in which the child changes refs. */
  readonly changing: string | undefined
  /** The time of the record, in milliseconds. */
  readonly since: number
  /** Deletes the record; may be called twice. */
  forget(): void
}

/** One small file per running child, named after its owner: an owner whose children have ended leaves no file. */
const prefix = (owner: Pick<Owner, 'pid' | 'startedAt'>) => `${owner.pid}-${owner.startedAt}.`

export function writeRecord(
  folder: string,
  owner: Owner,
  child: { pid: number; startedAt: string; changing?: string | undefined },
): () => void {
  const file = path.join(folder, prefix(owner) + child.pid)
  const content = JSON.stringify({
    startedAt: child.startedAt,
    boot: owner.boot,
    changing: child.changing,
  })
  // Only this record says whose a lock of the user's refs is that a power cut leaves, so it is on the disk before the lock.
  const write = child.changing === undefined ? writePlain : writeDurable
  try {
    write(file, content)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
    makeFolders(folder)
    write(file, content)
  }
  return () => rmSync(file, { force: true })
}

/** The records of this owner, without those of an owner with the same pid and start time before a reboot. */
export function readRecords(folder: string, owner: Owner): ChildRecord[] {
  return readNames(folder).flatMap(({ name, child, ...named }) => {
    if (prefix(named) !== prefix(owner)) return []
    const file = path.join(folder, name)
    const content = readContent(file)
    if (content && content.boot !== owner.boot) return []
    const since = lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
    const forget = () => rmSync(file, { force: true })
    return [{ pid: child, startedAt: content?.startedAt, changing: content?.changing, since, forget }]
  })
}

/** Every owner with a record. If a record lacks the boot, it counts as of this boot. */
export function readOwners(folder: string, boot: string): Owner[] {
  const owners = readNames(folder).map(({ name, pid, startedAt }): [string, Owner] => {
    const owner = { pid, startedAt, boot: readContent(path.join(folder, name))?.boot ?? boot }
    return [prefix(owner) + owner.boot, owner]
  })
  return [...new Map(owners).values()]
}

interface RecordName extends Omit<Owner, 'boot'> {
  readonly name: string
  /** The pid of the child. */
  readonly child: number
}

/** The names of records. Any other name is not ours, and neither is a pipe, a link or a folder. */
function readNames(folder: string): RecordName[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap(({ name }) => parseName(name) ?? [])
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw thrown
  }
}

/** `OWNER-START.CHILD`. No process that we start has the pid 0 or 1, which would stand for many to kill(2). */
export function parseName(name: string): RecordName | undefined {
  const [, pid, startedAt, child] = /^([1-9]\d{0,9})-(\d*)\.([1-9]\d{0,9})$/.exec(name) ?? []
  if (startedAt === undefined || Number(pid) <= 1 || Number(child) <= 1) return undefined
  return { name, pid: Number(pid), startedAt, child: Number(child) }
}

interface Content {
  readonly startedAt: string
  readonly boot: string
  readonly changing?: string
}

/** undefined when the owner was killed while it wrote the file, or another recovery has deleted it. */
function readContent(file: string): Content | undefined {
  try {
    return parseContent(JSON.parse(readPlain(file)))
  } catch {
    return undefined
  }
}

/** undefined when we cannot have written it. */
export function parseContent(found: unknown): Content | undefined {
  const { startedAt, boot, changing } = (found ?? {}) as Record<keyof Content, unknown>
  if (typeof startedAt !== 'string' || !/^\d+$/.test(startedAt)) return undefined
  if (typeof boot !== 'string' || !/^[\w-]+$/.test(boot)) return undefined
  if (changing === undefined) return { startedAt, boot }
  return typeof changing === 'string' && path.isAbsolute(changing) ? { startedAt, boot, changing } : undefined
}
