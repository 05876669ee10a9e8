import { lstat } from 'node:fs/promises'
import { type BytePath, below } from './bytes.ts'

export function parentOf(file: BytePath): BytePath {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')))
}

/** Tells of folders whether they are there; behind a link in the place of one is something else. Asks once for each. */
export function realFolders(workspace: string): (folder: BytePath) => Promise<boolean> {
  const asked = new Map<BytePath, Promise<boolean>>([['', Promise.resolve(true)]])
  const ask = async (folder: BytePath) => {
    if (!(await isThere(parentOf(folder)))) return false
    try {
      return (await lstat(below(workspace, folder))).isDirectory()
    } catch (error) {
      // One that we may not look at is there.
      return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
    }
  }
  const isThere = (folder: BytePath): Promise<boolean> => {
    const known = asked.get(folder) ?? ask(folder)
    asked.set(folder, known)
    return known
  }
  return isThere
}
