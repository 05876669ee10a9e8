/** Locks that a git holds, or that one left which was killed. */
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { GitLock } from '../core/model/git.ts'
import type { Place } from '../core/model/repo.ts'

const shared = ['index.lock', 'HEAD.lock', 'packed-refs.lock', 'config.lock', 'shallow.lock']

/** Of each linked worktree. */
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
      // A lock of ours is a link.
      return there && !there.isDirectory() ? [{ name, since: there.mtime }] : []
    }),
  )
  return found.flat()
}

/** Git passes over a folder that it may not read, and what is in it seems gone: that must not be believed. */
function noneIfGone(thrown: unknown): string[] {
  if (['EACCES', 'EPERM', 'EIO'].includes((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown
  return []
}
