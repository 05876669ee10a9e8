/** Whether a path is in a folder. */
import path from 'node:path'

/** By their text alone: the folder itself counts, and so does `..x` in it. A relative path is in no folder. */
export function isBelow(file: string, folder: string): boolean {
  const way = path.relative(folder, file)
  const leaves = way === '..' || way.startsWith(`..${path.sep}`) || path.isAbsolute(way)
  return path.isAbsolute(file) && !leaves
}
