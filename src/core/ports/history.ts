import type { CommitsBeside } from '../model/git.ts'
import type { Place } from '../model/repo.ts'

/** Commits of the user's repository, and whether one has landed in another. */
export interface History {
  /** The commit that a revision names; undefined when it names none. */
  findCommit(place: Place, rev: string, signal?: AbortSignal): Promise<string | undefined>
  isAncestor(place: Place, commit: string, of: string, signal?: AbortSignal): Promise<boolean>
  readBeside(place: Place, tip: string, target: string, signal?: AbortSignal): Promise<CommitsBeside>
  /** Whether one commit of the target, since both went apart, holds all that the branch changed. */
  isSquashed(place: Place, tip: string, target: string, signal?: AbortSignal): Promise<boolean>
}
