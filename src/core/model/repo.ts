/** Where the folders of a repository are, from what is known of its place. Pure. */
import path from 'node:path'

/** The folder that users know a repository by, and move as a whole: the main checkout, or of a bare one the git folder. */
export function repoRoot(commonDir: string): string {
  return path.basename(commonDir) === '.git' ? path.dirname(commonDir) : commonDir
}

/** The root of the checkout in hand, or in a bare repository its git folder. */
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
  /** The object that `markRef` points at. */
  readonly mark: string
  readonly addedAt: string
}

/** Where a repository is. */
export interface Place {
  /** The folder that all worktrees share: what identifies the repository on this machine. */
  readonly commonDir: string
  readonly gitDir: string
  /** The root of the checkout in hand; null in a bare repository. */
  readonly checkout: string | null
}

/** A repository in hand: where it is, and its record. */
export interface Repo extends RepoRecord {
  readonly place: Place
}

export function repoLock(place: Place): string {
  return `repo ${place.commonDir}`
}
