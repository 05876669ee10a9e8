/** Makes a folder and its parents. */
import { mkdirSync, statSync } from 'node:fs'
import path from 'node:path'

/** Node's own recursive mkdir loops for ever where no folder can be made, as in /proc. */
export function makeFolders(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return
    if (code !== 'ENOENT' || path.dirname(folder) === folder) throw thrown
    makeFolders(path.dirname(folder))
    mkdirSync(folder, { mode: 0o700 })
  }
}
