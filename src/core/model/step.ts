import type { GitLock } from './git.ts'

/** A state of a workspace that the vault keeps. Step 0 is how it was at the start. */
export interface Step {
  readonly n: number
  /** The vault's own id. */
  readonly commit: string
  readonly tree: string
  readonly tool: string
  readonly summary: string
  readonly at: string
  readonly run?: string | undefined
  readonly call?: string | undefined
  /** Of a rewind: the step whose files these are. */
  readonly rewindTo?: number | undefined
  /** Of an update: the tree of the target that was brought in. */
  readonly basis?: string | undefined
  readonly skipped: readonly SkippedPath[]
}

/** What a step could not hold, and why. */
export interface SkippedPath {
  readonly path: string
  readonly why: string
}

export interface StepFile {
  readonly path: string
  readonly status: 'added' | 'modified' | 'deleted'
}

/** What is said of a step when it is taken. */
export type StepNote = Pick<Step, 'tool' | 'summary' | 'run' | 'call' | 'rewindTo' | 'basis'>

export interface Snapshot {
  /** The new step; or, when nothing had changed, the last one. */
  readonly step: Step
  readonly created: boolean
  readonly files: readonly StepFile[]
}

export interface DiffStat {
  readonly files: number
  readonly insertions: number
  readonly deletions: number
}

export interface DiffOptions {
  readonly format: 'patch' | 'stat' | 'names'
  readonly color?: boolean | undefined
}

export interface VaultLook {
  readonly state: 'sound' | 'damaged' | 'missing'
  /** Of each task of which the vault has steps: whether the last one can be found. */
  readonly tips: ReadonlyMap<string, boolean>
  /** Objects behind the steps that neither it nor the repository has. */
  readonly lost?: readonly string[] | undefined
  /** Locks of git in it, by their full paths: nobody but us has a git there. */
  readonly locks?: readonly GitLock[] | undefined
}

export interface ReplayStep {
  readonly commit: string
  readonly subject: string
  readonly tree: string
  readonly parentTree: string
}

export interface Published {
  readonly branch: string
  readonly tip: string
  /** The agent had made commits of its own: the tip joins both. */
  readonly merged: boolean
}
