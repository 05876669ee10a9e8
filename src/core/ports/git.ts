import type { HeldBranch, HookCall, HookEnd, Registration, Worktree } from '../model/git.ts'
import type { Place } from '../model/repo.ts'

/** The user's repository and its checkouts. Reads answer undefined for "not there" and throw for everything else. */
export interface Git {
  /** Throws `gitUnusable` unless the installed git can do what we need; answers its version. */
  requireVersion(signal?: AbortSignal): Promise<string>
  /** HEAD of the checkout in hand: the branch it is on, null when detached. */
  readHeadBranch(place: Place): Promise<string | null>
  readWorktrees(place: Place): Promise<Worktree[]>
  /** Who will come back to the branch, although it is checked out nowhere: a rebase, a bisect. */
  findHolder(place: Place, branch: string): Promise<HeldBranch | undefined>
  /** The same for the linked ones, with what only a careful look needs to know. */
  readRegistrations(place: Place): Promise<Registration[]>
  /** What agents should leave alone: refs with their values, files of config and hooks with their hashes. */
  readSurroundings(place: Place): Promise<ReadonlyMap<string, string>>
  /** The mark that a repository carries, so that it is known again after it was moved. */
  findRepoMark(place: Place, signal?: AbortSignal): Promise<{ id: string; blob: string } | undefined>
  /** Stores the mark; no ref points to it yet. */
  writeRepoMark(place: Place, id: string, signal?: AbortSignal): Promise<string>
  /** Puts the checkout on a branch; files and index stay as they are. */
  moveHead(place: Place, branch: string, message: string): Promise<void>
  /** Runs a hook of the user's repository in its checkout; one that is not there has nothing to say. */
  runHook(place: Place, hook: HookCall, signal?: AbortSignal): Promise<HookEnd>
}
