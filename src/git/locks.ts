/** Locks that a git holds, or that one left which was killed. */
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { GitLock, Place } from '../core/ports.ts'

const shared = ['index.lock', 'HEAD.lock', 'packed-refs.lock', 'config.lock', 'shallow.lock']

/** Of each linked worktree. */
const own = ['index.lock', 'HEAD.lock']

export async function readLocks(place: Pick<Place, 'commonDir'>): Promise<GitLock[]> {
  const worktrees = await readdir(path.join(place.commonDir, 'worktrees')).catch((): string[] => [])
  const below = await readdir(path.join(place.commonDir, 'refs'), { recursive: true }).catch(() => [])
  const names = [
    ...shared,
    ...worktrees.toSorted().flatMap((name) => own.map((lock) => `worktrees/${name}/${lock}`)),
    ...below
      .filter((name) => name.endsWith('.lock'))
      .map((name) => `refs/${name}`)
      .toSorted(),
  ]
  const found = await Promise.all(
    names.map(async (name) => {
      const there = await lstat(path.join(place.commonDir, name)).catch(() => undefined)
      return there?.isFile() ? [{ name, since: there.mtime }] : []
    }),
  )
  return found.flat()
}
