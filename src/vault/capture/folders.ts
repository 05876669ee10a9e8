/** Folders of a workspace: which ones are real, and not links. */
import { lstatSync } from 'node:fs'
import { below, type BytePath } from '../../core/model/bytes.ts'

export function parentOf(file: BytePath): BytePath {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')))
}

/**
 * Says whether a folder exists and no part of its path is a link: a link leads elsewhere. Looks at each folder once.
 */
export function realFolders(workspace: string): (folder: BytePath) => boolean {
  const asked = new Map<BytePath, boolean>([['', true]])
  const ask = (folder: BytePath) => {
    if (!isThere(parentOf(folder))) return false
    try {
      return lstatSync(below(workspace, folder)).isDirectory()
    } catch (error) {
      // A folder that we may not look at does exist.
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
