/** Branches that a rebase or a bisect holds. */
import path from 'node:path'
import type { FileSystem } from '../core/ports/files.ts'
import type { HeldBranch } from '../core/model/git.ts'
import type { Place } from '../core/model/repo.ts'
import { readWorktrees } from './worktrees.ts'

/**
 * The checkout in which a rebase or a bisect of the branch is under way: HEAD is detached there until git returns to
 * the branch. `git branch --force` looks at the same files.
 */
export async function findHolder(
  files: FileSystem,
  place: Place,
  branch: string,
): Promise<HeldBranch | undefined> {
  for (const { name, path: checkout } of await readWorktrees(files, place)) {
    const gitDir = name === null ? place.commonDir : path.join(place.commonDir, 'worktrees', name)
    const lines = async (file: string) =>
      ((await files.readText(path.join(gitDir, file))) ?? '').split('\n').map((line) => line.trim())
    for (const file of ['rebase-merge/head-name', 'rebase-apply/head-name', 'rebase-merge/update-refs'])
      if ((await lines(file)).includes(`refs/heads/${branch}`)) return { verb: 'rebase', path: checkout }
    if ((await lines('BISECT_START'))[0] === branch) return { verb: 'bisect', path: checkout }
  }
  return undefined
}
