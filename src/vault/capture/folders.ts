import { lstatSync } from 'node:fs'
import { below, type BytePath } from '../../core/model/bytes.ts'

export function parentOf(file: BytePath): BytePath {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')))
}

/** Tells of folders whether they are there; behind a link in the place of one is something else. Asks once for each. */
export function realFolders(workspace: string): (folder: BytePath) => boolean {
  const asked = new Map<BytePath, boolean>([['', true]])
  const ask = (folder: BytePath) => {
    if (!isThere(parentOf(folder))) return false
    try {
      return lstatSync(below(workspace, folder)).isDirectory()
    } catch (error) {
      // One that we may not look at is there.
      return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
    }
  }
  const isThere = (folder: BytePath): boolean => {
    const known = asked.get(folder) ?? ask(folder)
    asked.set(folder, known)
    return known
  }
  return isThere
}
