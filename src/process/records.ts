import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeFolders } from '../files/make-folders.ts'
import type { Owner } from '../core/model/task.ts'

/** A child that leads a process group of its own. */
export interface ChildRecord {
  readonly pid: number
  /** undefined when its owner was killed while it wrote the record: whose the pid is now, nobody can tell. */
  readonly startedAt: string | undefined
  /** The git folder in which it changes refs. */
  readonly changing: string | undefined
  /** When it was noted, in milliseconds. */
  readonly since: number
  /** Takes the record away; may be called twice. */
  forget(): void
}

/** One small file per running child, named after its owner, so that nothing is left of an owner whose children ended. */
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

/** The records of that owner, not of one that had the same pid and start time before a restart of the machine. */
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

/** Every owner with a record; one whose boot is not written counts as of this boot. */
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

/** undefined when its owner was killed while it wrote it, or another recovery took it away meanwhile. */
function readContent(file: string): Content | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Content
  } catch {
    return undefined
  }
}
