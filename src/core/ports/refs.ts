import type { GitLock, LeftBehind, NewRef, RefChange } from '../model/git.ts'
import type { Place } from '../model/repo.ts'

/** Refs of the user's repository, their logs and git's locks on them. */
export interface Refs {
  /** The value of a full ref name; undefined when there is none. */
  findRef(place: Place, ref: string, signal?: AbortSignal): Promise<string | undefined>
  /** Branches that one of this name cannot stand beside: the same, `a` for `a/b`, `a/b` for `a`. */
  findRivals(place: Place, branch: string): Promise<string[]>
  /** The message of the ref's last reflog entry; undefined without one. */
  findReflogMessage(place: Place, ref: string): Promise<string | undefined>
  /** Whether a change with that message is anywhere in the ref's reflog. */
  isInReflog(place: Place, ref: string, message: string): Promise<boolean>
  /** Every ref below these names, with its value. */
  readRefs(place: Place, below: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, string>>
  /** Locks of git in the repository, whoever's they are, by their names in the git folder. */
  readLocks(place: Place): Promise<GitLock[]>
  /** New ones, in the order given; false when a name is taken. */
  createRefs(place: Place, refs: readonly NewRef[], message: string, signal?: AbortSignal): Promise<boolean>
  /** All or none, each only if it still has its old value; false when one had not. */
  changeRefs(
    place: Place,
    changes: readonly RefChange[],
    message: string,
    signal?: AbortSignal,
  ): Promise<boolean>
  /**
   * Takes away what a killed change of these refs left behind: locks, and the log of a ref that never came to be.
   * With `since`, what is older stays, as somebody else's; without it the refs must be ours alone.
   */
  clearRefLocks(place: Place, refs: readonly string[], since?: string): Promise<void>
  /** Takes away what is there of a ref of ours and says nothing, so that it can be made again. */
  clearBrokenRef(place: Place, ref: string): Promise<void>
  /** Takes away what such a git left of the locks that it has in common with every other. */
  clearSharedLocks(left: LeftBehind): Promise<void>
}
