/** Lock files that a running git holds, or that a killed git left. */
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { GitLock } from '../core/model/git.ts'
import type { Place } from '../core/model/repo.ts'

const shared = ['index.lock', 'HEAD.lock', 'packed-refs.lock', 'config.lock', 'shallow.lock']

/** Locks of each linked worktree. */
const own = ['index.lock', 'HEAD.lock']

export async function readLocks(place: Pick<Place, 'commonDir'>): Promise<GitLock[]> {
  const worktrees = await readdir(path.join(place.commonDir, 'worktrees')).catch(noneIfGone)
  const below = await readdir(path.join(place.commonDir, 'refs'), { recursive: true }).catch(noneIfGone)
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
      // Our own lock is a symbolic link.
      return there && !there.isDirectory() ? [{ name, since: there.mtime }] : []
    }),
  )
  return found.flat()
}

/** An unreadable folder may hold locks: its error is thrown. Git would skip the folder as if it were empty. */
function noneIfGone(thrown: unknown): string[] {
  if (['EACCES', 'EPERM', 'EIO'].includes((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown
  return []
}
