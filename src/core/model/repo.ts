/** A repository of the user: its record, and the folders it is made of. */
import path from 'node:path'

/** The folder that the user would move to move the repository: `/shop` for `/shop/.git`, and a bare `/shop.git` itself. */
export function repoRoot(commonDir: string): string {
  return path.basename(commonDir) === '.git' ? path.dirname(commonDir) : commonDir
}

/** The root of the checkout that the command runs in; in a bare repository, its git folder. */
export function checkoutRoot(place: {
  readonly checkout: string | null
  readonly commonDir: string
}): string {
  return place.checkout ?? place.commonDir
}

export interface RepoRecord {
  readonly id: string
  /** Its folder name in the state folder. */
  readonly name: string
  readonly commonDir: string
  /** The object that `refs/offshoot/repo` points at. */
  readonly mark: string
  readonly addedAt: string
}

/** The folders of a repository, as `git rev-parse` finds them. */
export interface Place {
  /** The git folder that all worktrees share; it identifies the repository on this machine. */
  readonly commonDir: string
  readonly gitDir: string
  /** The root of the checkout that the command runs in; null in a bare repository. */
  readonly checkout: string | null
}

/** A repository: its record, and where the command found it. */
export interface Repo extends RepoRecord {
  readonly place: Place
}

export function repoLock(place: Place): string {
  return `repo ${place.commonDir}`
}
