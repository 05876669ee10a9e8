/** Commits of the user's repository, and whether one has landed in another; implemented by src/git. */
import type { CommitsBeside } from '../model/git.ts'
import type { Place } from '../model/repo.ts'

/** Questions to the commit graph. */
export interface History {
  /** The commit that a revision such as `main~2` names. */
  findCommit(place: Place, rev: string, signal?: AbortSignal): Promise<string | undefined>
  /** Whether `commit` is reachable from `of`. */
  isAncestor(place: Place, commit: string, of: string, signal?: AbortSignal): Promise<boolean>
  /** Counts the commits on `tip` that `target` lacks, and those whose patch it lacks too. */
  readBeside(place: Place, tip: string, target: string, signal?: AbortSignal): Promise<CommitsBeside>
  /** Whether one commit on `target` since the merge base holds the whole change of the branch, as after a squash. */
  isSquashed(place: Place, tip: string, target: string, signal?: AbortSignal): Promise<boolean>
}
