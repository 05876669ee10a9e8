/** Refs of the user's repository, with reflogs and lock files; implemented by src/git (docs/adr/0018-refs-in-process.md). */
import type { GitLock, LeftBehind, NewRef, RefChange } from '../model/git.ts'
import type { Place } from '../model/repo.ts'

/** Reads and changes refs by their full names, such as `refs/heads/main`. */
export interface Refs {
  /** The value of a full ref name; undefined when there is none. */
  findRef(place: Place, ref: string, signal?: AbortSignal): Promise<string | undefined>
  /** Existing branches that rule out a branch of this name: the same name, `a` for `a/b`, `a/b` for `a`. */
  findRivals(place: Place, branch: string): Promise<string[]>
  /** The message of the ref's last reflog entry; undefined without one. */
  findReflogMessage(place: Place, ref: string): Promise<string | undefined>
  /** Whether any entry of the ref's reflog has that message. */
  isInReflog(place: Place, ref: string, message: string): Promise<boolean>
  /** Every ref below these prefixes, with its value. */
  readRefs(place: Place, below: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, string>>
  /** Git's lock files in the repository, whoever made them, by their paths in the git folder. */
  readLocks(place: Place): Promise<GitLock[]>
  /** Creates refs, in the order given; false when one exists already. */
  createRefs(place: Place, refs: readonly NewRef[], message: string, signal?: AbortSignal): Promise<boolean>
  /** Changes all refs or none, each only if it still has its old value; false when one did not. */
  changeRefs(
    place: Place,
    changes: readonly RefChange[],
    message: string,
    signal?: AbortSignal,
  ): Promise<boolean>
  /**
   * Removes the lock files that a killed change of these refs left, and the reflog of a ref that was never created. With
   * `since`, older files stay, because they are somebody else's; without it the refs must be ours alone.
   */
  clearRefLocks(place: Place, refs: readonly string[], since?: string): Promise<void>
  /** Deletes a ref file of ours without a value, as a power cut may leave it, so that it can be recreated. */
  clearBrokenRef(place: Place, ref: string): Promise<void>
  /** Removes `packed-refs.lock` and `HEAD.lock` if that killed git of ours left them. */
  clearSharedLocks(left: LeftBehind): Promise<void>
}
