/** A step: one state of a workspace that the vault keeps, and the answers of the ports that read steps. */
import type { BytePath } from './bytes.ts'
import type { GitLock } from './git.ts'

/** A commit of the vault. Step 0 is the workspace as it was at the start. */
export interface Step {
  readonly n: number
  /** The id of the commit in the vault; published, the step has another one. */
  readonly commit: string
  readonly tree: string
  readonly tool: string
  readonly summary: string
  readonly at: string
  readonly run?: string | undefined
  readonly call?: string | undefined
  /** All calls whose work the step may hold; left out where that is only the one it is named after. */
  readonly calls?: readonly StepCall[] | undefined
  /** Of a rewind: the older step with the same files. */
  readonly rewindTo?: number | undefined
  /** Of an update: the tree of the target that was merged in. */
  readonly basis?: string | undefined
  readonly skipped: readonly SkippedPath[]
}

/** The summary of a step with what a failed tool left; `failedTool` reads it. */
export function leftBy(tool: string): string {
  return `left by ${tool}, which failed`
}

/** The tool whose leftovers the step holds; undefined for any other step. */
export function failedTool({ tool, summary }: Pick<Step, 'tool' | 'summary'>): string | undefined {
  return tool === 'sweep' ? /^left by (.+), which failed$/s.exec(summary)?.[1] : undefined
}

/** A tool call that a step names. */
export interface StepCall {
  /** The agent's own id of it. */
  readonly id?: string | undefined
  readonly tool: string
  readonly summary: string
  /** What it wrote may be half-done. */
  readonly failed?: true | undefined
}

/** The files of a step, all that a comparison needs of it. */
export type StepTree = Pick<Step, 'tree'>

/** A file that a step could not hold, and why. */
export interface SkippedPath {
  readonly path: string
  readonly why: string
}

export interface StepFile {
  readonly path: string
  readonly status: 'added' | 'modified' | 'deleted'
}

/** The facts that a step is labelled with when it is taken. */
export type StepNote = Pick<Step, 'tool' | 'summary' | 'run' | 'call' | 'calls' | 'rewindTo' | 'basis'>

export interface Snapshot {
  /** The new step, or the last one when no file had changed. */
  readonly step: Step
  readonly created: boolean
  readonly files: readonly StepFile[]
  /** The files that no step can hold now, also when no step was needed. */
  readonly skipped: readonly SkippedPath[]
}

/** A workspace as it is now, beside its last step. */
export interface Present {
  readonly step: Step
  readonly tree: string
  /** The files that the step holds otherwise, or not at all. */
  readonly files: readonly StepFile[]
}

/** A changed file with its lines; null where git counts none, as in a binary file. */
export interface CountedFile extends StepFile {
  readonly insertions: number | null
  readonly deletions: number | null
}

export interface DiffStat {
  readonly files: number
  readonly insertions: number
  readonly deletions: number
}

export interface DiffOptions {
  readonly format: 'patch' | 'stat' | 'names'
  /** Binary files as a patch that `git apply` takes, instead of one line that says that they differ. */
  readonly binary?: boolean | undefined
  readonly color?: boolean | undefined
}

export interface VaultLook {
  readonly state: 'sound' | 'damaged' | 'missing'
  /** For each task with steps in the vault, by uid: whether its last step can be read. */
  readonly tips: ReadonlyMap<string, boolean>
  /** Objects of the steps that neither the vault nor the repository has. */
  readonly lost?: readonly string[] | undefined
  /** Lock files of git in the vault, by their full paths. Only our git processes work there. */
  readonly locks?: readonly GitLock[] | undefined
}

export interface ReplayStep {
  readonly commit: string
  readonly subject: string
  readonly tree: string
  readonly parentTree: string
}

/** A commit of the agent's own, with the files that appear with it. */
export interface OwnCommit {
  readonly commit: string
  /** Left out where it is the user. */
  readonly author?: string
  readonly files: readonly { readonly path: BytePath; readonly oid: string }[]
}

export interface OwnCommits {
  readonly commits: readonly OwnCommit[]
  /** Heads that lack an object, or whose objects git refuses: they are never handed on. */
  readonly unsound: readonly string[]
}

export interface Published {
  readonly branch: string
  readonly tip: string
  /** The agent had made commits of its own, so the tip is a merge of those and the steps. */
  readonly merged: boolean
  /** What the user is told of commits of the agent's own that are not on the branch. */
  readonly leftOut?: string | undefined
}
