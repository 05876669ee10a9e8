/**
 * The git folder of a workspace, read as plain files. We never run git in a folder that an agent writes: its config
 * could make git run commands, and a pipe in the place of a file would block git for ever.
 */
import path from 'node:path'
import type { FileSystem } from '../core/ports/files.ts'
import type { Place } from '../core/model/repo.ts'

const object = /^([0-9a-f]{40}|[0-9a-f]{64})\s*$/

/** The value of a ref; undefined when it does not exist or cannot be read. */
export async function readOwnRef(
  files: FileSystem,
  { commonDir }: Place,
  ref: string,
): Promise<string | undefined> {
  const loose = await readPlain(files, commonDir, ref)
  if (loose !== undefined) return object.exec(loose)?.[1]
  const packed = (await readPlain(files, commonDir, 'packed-refs')) ?? ''
  const line = packed.split('\n').find((candidate) => candidate.endsWith(` ${ref}`))
  return line && object.exec(line.slice(0, -ref.length))?.[1]
}

/** The commit that the workspace has checked out; undefined when its git is broken. */
export async function readOwnHead(files: FileSystem, place: Place): Promise<string | undefined> {
  const head = (await readPlain(files, place.gitDir, 'HEAD')) ?? ''
  const ref = /^ref: (refs\/[^\n]+)\n?$/.exec(head)?.[1]
  if (ref === undefined) return object.exec(head)?.[1]
  return ref.includes('..') ? undefined : readOwnRef(files, place, ref)
}

/** Whether every parent of the file, from the git folder on, is a real folder or missing, and none is a link. */
export async function isReal(files: FileSystem, gitDir: string, name: string): Promise<boolean> {
  if ((await files.readKind(gitDir)) !== 'folder') return false
  const parts = name.split('/')
  for (let count = 1; count < parts.length; count++) {
    const kind = await files.readKind(path.join(gitDir, ...parts.slice(0, count)))
    if (kind !== undefined && kind !== 'folder') return false
  }
  return true
}

/** The text of a file below a folder; undefined behind a link, or if the file may not be read. */
export async function readPlain(
  files: FileSystem,
  folder: string,
  name: string,
): Promise<string | undefined> {
  if (!(await isReal(files, folder, name))) return undefined
  return files.readText(path.join(folder, name)).catch(() => undefined)
}
