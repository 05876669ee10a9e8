/** Paths in a repository that was moved. */
import path from 'node:path'
import { repoRoot } from './model/repo.ts'

/** Where a path is now: what was in the repository has moved with it, all else is where it was. */
export function follower(from: string, to: string): (file: string) => string {
  const [old, now] = [repoRoot(from), repoRoot(to)]
  return (file) => (file === old || file.startsWith(old + path.sep) ? now + file.slice(old.length) : file)
}
