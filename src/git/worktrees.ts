/** The worktrees of a repository, read from git's files. */
import path from 'node:path'
import type { Registration, Worktree } from '../core/model/git.ts'
import { type Place, repoRoot } from '../core/model/repo.ts'
import { branchOfHead } from '../core/model/refs.ts'
import { registrationMark } from '../core/model/layout.ts'
import type { FileSystem } from '../core/ports/files.ts'
import { isBare } from './bare.ts'

/** Every worktree of the repository, the main one first. */
export async function readWorktrees(files: FileSystem, place: Place): Promise<Worktree[]> {
  // A bare repository has a HEAD, but no checkout.
  const branch = isBare(place.commonDir) ? null : await branchIn(files, place.commonDir)
  const found: Worktree[] = [{ name: null, path: repoRoot(place.commonDir), branch }]
  const names = await files.readNames(path.join(place.commonDir, 'worktrees'))
  const linked = await Promise.all(
    names.map(async (name): Promise<Worktree[]> => {
      const gitDir = path.join(place.commonDir, 'worktrees', name)
      const [pointer, on] = await Promise.all([
        files.readText(path.join(gitDir, 'gitdir')),
        branchIn(files, gitDir),
      ])
      if (pointer === undefined) return []
      return [{ name, path: path.dirname(path.resolve(gitDir, pointer.trimEnd())), branch: on }]
    }),
  )
  return [...found, ...linked.flat()]
}

export async function readRegistrations(files: FileSystem, place: Place): Promise<Registration[]> {
  const linked = await readWorktrees(files, place)
  return Promise.all(
    linked.flatMap(({ name, ...rest }) => {
      if (name === null) return []
      const gitDir = path.join(place.commonDir, 'worktrees', name)
      const read = (file: string) => files.readText(path.join(gitDir, file))
      return [
        Promise.all([read(registrationMark), read('locked')]).then(([mark, locked]) => {
          const uid = /"uid":"([0-9a-z]{20})"/.exec(mark ?? '')?.[1]
          return { name, ...rest, uid, locked: locked?.trim() }
        }),
      ]
    }),
  )
}

/** The text of git's lock on a worktree that it is making; a git that is killed then leaves the lock for ever. */
export const halfMade = 'initializing'

async function branchIn(files: FileSystem, gitDir: string): Promise<string | null> {
  const head = (await files.readText(path.join(gitDir, 'HEAD'))) ?? ''
  return branchOfHead(head)
}
