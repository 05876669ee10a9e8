import type {
  CommitsBeside,
  GitLock,
  HeldBranch,
  HookCall,
  HookEnd,
  LeftBehind,
  NewRef,
  RefChange,
  Registration,
  Submodules,
  Worktree,
} from '../model/git.ts'
import type { Place, Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'

/** Git, in the nouns that the verbs need. Reads answer undefined for "not there" and throw for everything else. */
export interface Git {
  /** Throws WT_015 unless the installed git can do what we need; answers its version. */
  requireVersion(signal?: AbortSignal): Promise<string>
  /** HEAD of the checkout in hand: the branch it is on, null when detached. */
  readHeadBranch(place: Place): Promise<string | null>
  /** The commit that a revision names; undefined when it names none. */
  findCommit(place: Place, rev: string, signal?: AbortSignal): Promise<string | undefined>
  /** The value of a full ref name; undefined when there is none. */
  findRef(place: Place, ref: string, signal?: AbortSignal): Promise<string | undefined>
  /** Branches that one of this name cannot stand beside: the same, `a` for `a/b`, `a/b` for `a`. */
  findRivals(place: Place, branch: string): Promise<string[]>
  /** The message of the ref's last reflog entry; undefined without one. */
  findReflogMessage(place: Place, ref: string): Promise<string | undefined>
  /** Whether a change with that message is anywhere in the ref's reflog. */
  isInReflog(place: Place, ref: string, message: string): Promise<boolean>
  readWorktrees(place: Place): Promise<Worktree[]>
  /** Who will come back to the branch, although it is checked out nowhere: a rebase, a bisect. */
  findHolder(place: Place, branch: string): Promise<HeldBranch | undefined>
  /** The same for the linked ones, with what only a careful look needs to know. */
  readRegistrations(place: Place): Promise<Registration[]>
  /** Every ref below these names, with its value. */
  readRefs(place: Place, below: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, string>>
  /** Locks of git in the repository, whoever's they are, by their names in the git folder. */
  readLocks(place: Place): Promise<GitLock[]>
  isAncestor(place: Place, commit: string, of: string, signal?: AbortSignal): Promise<boolean>
  readBeside(place: Place, tip: string, target: string, signal?: AbortSignal): Promise<CommitsBeside>
  /** Whether one commit of the target, since both went apart, holds all that the branch changed. */
  isSquashed(place: Place, tip: string, target: string, signal?: AbortSignal): Promise<boolean>
  /** What agents should leave alone: refs with their values, files of config and hooks with their hashes. */
  readSurroundings(place: Place): Promise<ReadonlyMap<string, string>>
  /** The mark that a repository carries, so that it is known again after it was moved. */
  findRepoMark(place: Place, signal?: AbortSignal): Promise<{ id: string; blob: string } | undefined>
  /** Stores the mark; no ref points to it yet. */
  writeRepoMark(place: Place, id: string, signal?: AbortSignal): Promise<string>
  /** New ones, in the order given; false when a name is taken. */
  createRefs(place: Place, refs: readonly NewRef[], message: string, signal?: AbortSignal): Promise<boolean>
  /** All or none, each only if it still has its old value; false when one had not. */
  changeRefs(
    place: Place,
    changes: readonly RefChange[],
    message: string,
    signal?: AbortSignal,
  ): Promise<boolean>
  /** Puts the checkout on a branch; files and index stay as they are. */
  moveHead(place: Place, branch: string, message: string): Promise<void>
  /** Checks out, in a fresh workspace, the submodules of a commit that the user's repository has; reaches no other machine. */
  fillSubmodules(repo: Repo, task: Task, commit: string, signal?: AbortSignal): Promise<Submodules>
  /** Files of the workspace that are only a pointer to their content in Git LFS. */
  findPointers(repo: Repo, task: Task, signal?: AbortSignal): Promise<string[]>
  /** Runs a hook of the user's repository in its checkout; one that is not there has nothing to say. */
  runHook(place: Place, hook: HookCall, signal?: AbortSignal): Promise<HookEnd>
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
