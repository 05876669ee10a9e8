/** Records of running children, so that recovery can end them after their owner was killed. */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeFolders } from '../files/make-folders.ts'
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
const prefix = (owner: Owner) => `${owner.pid}-${owner.startedAt}.`

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
  try {
    writeFileSync(file, content, { mode: 0o600 })
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
    makeFolders(folder)
    writeFileSync(file, content, { mode: 0o600 })
  }
  return () => rmSync(file, { force: true })
}

/** The records of this owner, without those of an owner with the same pid and start time before a reboot. */
export function readRecords(folder: string, owner: Owner): ChildRecord[] {
  return readNames(folder)
    .filter((name) => name.startsWith(prefix(owner)))
    .flatMap((name) => {
      const file = path.join(folder, name)
      const content = readContent(file)
      if (content && content.boot !== owner.boot) return []
      const pid = Number(name.slice(prefix(owner).length))
      const since = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
      const forget = () => rmSync(file, { force: true })
      return [{ pid, startedAt: content?.startedAt, changing: content?.changing, since, forget }]
    })
}

/** Every owner with a record. If a record lacks the boot, it counts as of this boot. */
export function readOwners(folder: string, boot: string): Owner[] {
  const owners = readNames(folder).flatMap((name): [string, Owner][] => {
    const [, pid, startedAt] = /^(\d+)-(.*)\.\d+$/.exec(name) ?? []
    if (pid === undefined || startedAt === undefined) return []
    const owner = { pid: Number(pid), startedAt, boot: readContent(path.join(folder, name))?.boot ?? boot }
    return [[prefix(owner) + owner.boot, owner]]
  })
  return [...new Map(owners).values()]
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw thrown
  }
}

interface Content {
  readonly startedAt: string
  readonly boot: string
  readonly changing?: string
}

/** undefined when the owner was killed while it wrote the file, or another recovery has deleted it. */
function readContent(file: string): Content | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Content
  } catch {
    return undefined
  }
}
