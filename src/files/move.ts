import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { cp, lstat, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { sync } from './sync.ts'

/**
 * Where a file or folder is made before it takes its name: in the same folder, so that a rename suffices. One that a
 * crash leaves among git's objects has the name that git gives to its own: it is no damage, and collected in time.
 */
export function draftPath(target: string): string {
  const [folder, random] = [path.dirname(target), randomBytes(6).toString('hex')]
  const amongObjects = /[/\\]objects[/\\][0-9a-f]{2}$/.test(folder)
  return path.join(folder, amongObjects ? `tmp_obj_${random}` : `.${path.basename(target)}.${random}.tmp`)
}

/** Links stay as they are written; pipes and sockets hold nothing and are left out, or they would make it fail. */
export async function copy(from: string, to: string): Promise<void> {
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
    filter: async (source) => {
      const found = await lstat(source)
      return found.isFile() || found.isDirectory() || found.isSymbolicLink()
    },
  })
}

export async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EXDEV') throw thrown
    await moveAcross(from, to)
  }
}

/** The old one goes only when the new one is whole and on the disk. */
async function moveAcross(from: string, to: string): Promise<void> {
  const draft = draftPath(to)
  try {
    await copy(from, draft)
    await syncTree(draft)
    await rename(draft, to)
    await sync([path.dirname(to)])
  } catch (thrown) {
    await rm(draft, { recursive: true, force: true })
    throw thrown
  }
  await rm(from, { recursive: true, force: true })
}

async function syncTree(target: string): Promise<void> {
  const kind = await lstat(target)
  if (kind.isDirectory()) {
    for (const name of await readdir(target)) await syncTree(path.join(target, name))
  }
  if (!kind.isSymbolicLink()) await sync([target])
}
