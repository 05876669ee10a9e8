/** Facts about the user's repository that git adapters answer with: refs, worktrees, hooks, pushes. */
export interface NewRef {
  readonly ref: string
  readonly new: string
}

export interface RefChange {
  readonly ref: string
  /** The value that the ref must have now; null: it must not exist. */
  readonly old: string | null
  /** The new value; null: the ref is deleted. */
  readonly new: string | null
}

/** What a person is told of a commit. */
export interface CommitWords {
  readonly subject: string
  readonly author: string
}

/** A branch that moved during a run. */
export interface RefMove {
  readonly from: CommitWords | undefined
  readonly to: CommitWords | undefined
  /** Nobody but the run can have moved it: no checkout of the user has noted it, and it has no commit of others. */
  readonly isProven: boolean
  /** The folder of the user's checkout that has noted it. */
  readonly checkout: string | undefined
}

export interface RefMoves {
  readonly moves: ReadonlyMap<string, RefMove>
  /** A checkout of the user was switched to another branch. */
  readonly isSwitched: boolean
  /** The folders of the user's checkouts, each by its git folder. */
  readonly checkouts: ReadonlyMap<string, string | undefined>
}

export interface RefMovesInput {
  readonly changes: readonly {
    readonly ref: string
    readonly before: string | null
    readonly after: string | null
  }[]
  /** All that refs had before the run, and what tasks of offshoot have now. */
  readonly known: readonly string[]
  /** When the run began. */
  readonly since: Date
}

export interface Worktree {
  /** The name of its registration below `worktrees/`; null for the main checkout. */
  readonly name: string | null
  readonly path: string
  /** The branch it is on; null when detached. */
  readonly branch: string | null
}

/** A branch that git will come back to when a rebase or bisect in the checkout at `path` ends. */
export interface HeldBranch {
  readonly verb: 'rebase' | 'bisect'
  readonly path: string
}

export interface Registration extends Worktree {
  readonly name: string
  /** The task that it was made for; undefined when offshoot did not make it. */
  readonly uid: string | undefined
  /** The reason in `git worktree lock`; undefined when it is not locked. */
  readonly locked: string | undefined
}

export interface GitLock {
  readonly name: string
  readonly since: Date
}

export interface HookCall {
  readonly name: string
  readonly args: readonly string[]
}

export interface HookEnd {
  readonly ok: boolean
  readonly said: string
}

/** The commit that a submodule is to be at. */
export interface ModulePointer {
  /** By which `.gitmodules` calls it. */
  readonly name: string
  readonly path: string
  readonly commit: string
}

/** Which submodules of a workspace were filled. */
export interface Submodules {
  readonly filled: readonly string[]
  /** Those whose folder stays empty, and why. */
  readonly empty: readonly { readonly path: string; readonly why: string }[]
}

/** How many commits on `tip` the branch `target` lacks. */
export interface CommitsBeside {
  readonly all: number
  /** How many of them have a patch that `target` lacks too: a cherry-picked commit is in `all` only. */
  readonly missing: number
}

/** A git process that was changing refs when it was killed. */
export interface LeftBehind {
  readonly gitDir: string
  /** When it was started, and when it was found dead, in milliseconds; undefined: nobody looked. */
  readonly from: number
  readonly to: number | undefined
}

export interface OtherFolder {
  readonly path: string
  /** The folder is the workspace itself, moved to another place. */
  readonly isMoved: boolean
  /** The folder is missing but the worktree is locked, as git advises for removable disks. */
  readonly isAway?: boolean
}

export interface Push {
  readonly url: string
  readonly branch: string
  readonly commit: string
  /** Whether the user's pre-push hook runs. */
  readonly hooks: boolean
}
