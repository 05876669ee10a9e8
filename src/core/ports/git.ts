/** The user's repository and its checkouts; implemented by src/git. */
import type {
  HeldBranch,
  HookCall,
  HookEnd,
  RefMoves,
  RefMovesInput,
  Registration,
  Worktree,
} from '../model/git.ts'
import type { Place } from '../model/repo.ts'
import type { Surroundings } from '../model/surroundings.ts'

/** Questions to git. A `find*` answers undefined for "not there" and throws for everything else. */
export interface Git {
  /** Answers the version of the installed git; throws `gitUnusable` when it is missing or too old. */
  requireVersion(signal?: AbortSignal): Promise<string>
  /** The branch that the checkout is on; null when its HEAD is detached. */
  readHeadBranch(place: Place): Promise<string | null>
  /** The main checkout and all linked worktrees. */
  readWorktrees(place: Place): Promise<Worktree[]>
  /** The rebase or bisect that will come back to the branch, although it is checked out nowhere now. */
  findHolder(place: Place, branch: string): Promise<HeldBranch | undefined>
  /** The linked worktrees, with their git locks and the tasks that they belong to. */
  readRegistrations(place: Place): Promise<Registration[]>
  /** What agents should not change: refs, the git folder without its objects, hooks; `seen` is an earlier answer. */
  readSurroundings(place: Place, seen?: Surroundings): Promise<Surroundings>
  /** Tells of branches that moved during a run what they point at, and whether the run surely moved them. */
  readRefMoves(place: Place, input: RefMovesInput): Promise<RefMoves>
  /** The mark in the repository that identifies it after the user moved it. */
  findRepoMark(place: Place, signal?: AbortSignal): Promise<{ id: string; blob: string } | undefined>
  /** Stores the mark as a blob and answers its object id; no ref points to it yet. */
  writeRepoMark(place: Place, id: string, signal?: AbortSignal): Promise<string>
  /** Points HEAD of the checkout at a branch; files and index stay as they are. */
  moveHead(place: Place, branch: string, message: string): Promise<void>
  /** Runs a git hook of the user in the checkout; a hook that does not exist answers `ok`. */
  runHook(place: Place, hook: HookCall, signal?: AbortSignal): Promise<HookEnd>
}
