/** Paths in a repository that was moved. */
import path from 'node:path'

/** Where a path is now: what was in the repository has moved with it, all else is where it was. */
export function follower(from: string, to: string): (file: string) => string {
  const [old, now] = [rootOf(from), rootOf(to)]
  return (file) => (file === old || file.startsWith(old + path.sep) ? now + file.slice(old.length) : file)
}

/** The folder that is moved as a whole: the checkout, or of a bare repository the git folder. */
export function rootOf(commonDir: string): string {
  return path.basename(commonDir) === '.git' ? path.dirname(commonDir) : commonDir
}
