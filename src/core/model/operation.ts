import type { BytePath } from './bytes.ts'
import type { AutoRevert } from './events.ts'
import type { RefChange } from './git.ts'
import type { StepNote } from './step.ts'
import type { TaskPatch } from './task.ts'
import type { Leaf } from './tree.ts'

/** Of tasks the uids, of operations the ids. */
export interface Gone {
  readonly tasks: readonly string[]
  readonly operations: readonly string[]
}

export interface KeptOperation {
  readonly name: string
  readonly record: unknown
  /** Undefined when it never came to pass; `order` counts up with time. */
  readonly done: { readonly order: number; readonly note: object } | undefined
}

export interface Kept {
  readonly name: string
  readonly record: object
  readonly trees: Readonly<Record<string, string>>
}

export interface FileMove {
  readonly path: BytePath
  readonly from: Leaf | null
  readonly to: Leaf | null
}

/** The folder of a task, into the trash or back. */
export interface WorkspaceMove {
  readonly to: 'trash' | 'back'
  readonly trash: string
}

export type IndexPart = { readonly gitDir: string } & (
  | { readonly moves: readonly FileMove[] }
  | { readonly from: Leaf; readonly to: Leaf }
)

/** The files of the workspace become those of a tree, and that is one more step. */
export interface StepMove {
  /** The last step before it. */
  readonly before: number
  readonly tree: string
  readonly note: StepNote
}

export interface Operation {
  readonly id: string
  readonly verb:
    | 'accept'
    | 'reject'
    | 'remove'
    | 'delete'
    | 'rewind'
    | 'update'
    | 'undo'
    | 'start'
    | 'prune'
    | 'run'
  readonly task: string
  readonly at: string
  /** Where the repository was: it may have been moved since. */
  readonly commonDir?: string | undefined
  /** What it was done together with. */
  readonly batch?: string | undefined
  /** Nobody asked for it: what brought it about. */
  readonly auto?: AutoRevert | undefined
  /** What this one undid. */
  readonly undoes?: string | undefined
  readonly files?: { readonly checkout: string; readonly moves: readonly FileMove[] } | undefined
  /** Entries of that checkout's index, or all of the file. */
  readonly index?: IndexPart | undefined
  /** The branch that the checkout is on. */
  readonly head?: { readonly gitDir: string; readonly from: string; readonly to: string } | undefined
  readonly refs: readonly RefChange[]
  readonly workspace?: WorkspaceMove | undefined
  readonly step?: StepMove | undefined
  readonly record: { readonly from: TaskPatch; readonly to: TaskPatch }
  /** Why it cannot be undone. */
  readonly final?: string | undefined
}

/** What the vault says of an operation that is done. */
export interface OperationNote {
  readonly at: string
  readonly patch: TaskPatch
  readonly left: readonly string[]
}
