export interface NewRef {
  readonly ref: string
  readonly new: string
}

export interface RefChange {
  readonly ref: string
  /** What it must be now; null: it must not exist. */
  readonly old: string | null
  /** What it shall be; null: deleted. */
  readonly new: string | null
}

export interface Worktree {
  /** The name of its registration below `worktrees/`; null for the main checkout. */
  readonly name: string | null
  readonly path: string
  /** The branch it is on; null when detached. */
  readonly branch: string | null
}

/** What git is in the middle of, in that checkout. */
export interface HeldBranch {
  readonly verb: 'rebase' | 'bisect'
  readonly path: string
}

export interface Registration extends Worktree {
  readonly name: string
  /** The task that it was made for, when it is one of ours. */
  readonly uid: string | undefined
  /** What git's own lock of it says; undefined without one. */
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

/** What became of the submodules of a workspace. */
export interface Submodules {
  readonly filled: readonly string[]
  /** Those whose folder stays empty, and why. */
  readonly empty: readonly { readonly path: string; readonly why: string }[]
}

/** Commits of a branch that another one has not. */
export interface CommitsBeside {
  readonly all: number
  /** Those whose change the other has under no other name either. */
  readonly missing: number
}

/** A git that changed refs and did not end by itself. */
export interface LeftBehind {
  readonly gitDir: string
  /** When it was started, and when it was seen to run no more, in milliseconds; undefined: nobody saw it. */
  readonly from: number
  readonly to: number | undefined
}

export interface OtherFolder {
  readonly path: string
  /** It is the workspace itself, at another place. */
  readonly isMoved: boolean
  /** Nothing is there now, but its user has locked it, as one does where a disk is not always there. */
  readonly isAway?: boolean
}

export interface Push {
  readonly url: string
  readonly branch: string
  readonly commit: string
  /** The hooks of the user's repository have a say. */
  readonly hooks: boolean
}
