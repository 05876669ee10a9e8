/** Moves and copies of files and folders, also across file systems. */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, cp, lstat, readdir, rename } from 'node:fs/promises'
import path from 'node:path'
import { removeFolder } from './remove.ts'
import { sync } from './sync.ts'

/**
 * The temporary path of a new file or folder, in the same folder as its target, so that a rename suffices. Among git's
 * objects it has the name that git gives to its own drafts: after a crash, git does not report it and gc deletes it.
 */
export function draftPath(target: string): string {
  const [folder, random] = [path.dirname(target), randomBytes(6).toString('hex')]
  const amongObjects = /[/\\]objects[/\\][0-9a-f]{2}$/.test(folder)
  return path.join(folder, amongObjects ? `tmp_obj_${random}` : `.${path.basename(target)}.${random}.tmp`)
}

/** Copies links as links. Pipes and sockets have no content and are skipped: copying one would fail. */
export async function copy(from: string, to: string, mode?: number): Promise<void> {
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
  if (mode !== undefined) await chmod(to, mode)
}

export async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EXDEV') throw thrown
    await moveAcross(from, to)
  }
}

/** Deletes the original only after the copy is complete and synced. */
async function moveAcross(from: string, to: string): Promise<void> {
  const draft = draftPath(to)
  try {
    await copy(from, draft)
    await syncTree(draft)
    await rename(draft, to)
    await sync([path.dirname(to)])
  } catch (thrown) {
    await removeFolder(draft)
    throw thrown
  }
  await removeFolder(from)
}

async function syncTree(target: string): Promise<void> {
  const kind = await lstat(target)
  if (kind.isDirectory()) {
    for (const name of await readdir(target)) await syncTree(path.join(target, name))
  }
  if (!kind.isSymbolicLink()) await sync([target])
}
