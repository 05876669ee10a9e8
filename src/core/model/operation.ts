/** An operation: one act that lands, discards or takes back, written down whole before its first effect. */
import type { BytePath } from './bytes.ts'
import type { AutoRevert } from './events.ts'
import type { RefChange } from './git.ts'
import type { StepNote } from './step.ts'
import type { TaskPatch } from './task.ts'
import type { Leaf } from './tree.ts'

/** Tasks (by uid) and operations (by id) that have expired. */
export interface Gone {
  readonly tasks: readonly string[]
  readonly operations: readonly string[]
}

export interface KeptOperation {
  readonly name: string
  readonly record: unknown
  /** Undefined when the operation was never completed; `order` counts up with time. */
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

/** Files of the user's git folder, or of a folder of hooks, that changed in a run; their permissions count. */
export interface StrayFiles {
  readonly folder: string
  readonly moves: readonly FileMove[]
}

/** Moves the folder of a task into the trash or back. */
export interface WorkspaceMove {
  readonly to: 'trash' | 'back'
  readonly trash: string
}

export type IndexPart = { readonly gitDir: string } & (
  | { readonly moves: readonly FileMove[] }
  | { readonly from: Leaf; readonly to: Leaf }
)

/** Makes the files of the workspace those of a tree, and takes one more step of them. */
export interface StepMove {
  /** The number of the last step before the operation. */

  readonly before: number
  readonly tree: string
  readonly note: StepNote
}

/**
 * All that one verb changes, with the old and the new value of each part, so that it can be finished, taken back or undone
 * from this record alone (docs/adr/0015-operations-staged-then-finished.md). Example, a patch of one file:
 * `{verb: 'accept', files: {checkout: '/shop', moves: [{path: 'a.ts', from, to}]}, refs: [], record: {from: {state:
 * 'completed'}, to: {state: 'accepted', …}}, …}`. `undo` performs the inverse, with every `from` and `to` exchanged.
 */
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
  /** The git folder of the repository at that time; the user may have moved it since. */
  readonly commonDir?: string | undefined
  /** The same for all operations of one `prune`; else the id of the operation that it belongs to, and is undone with. */
  readonly batch?: string | undefined
  /** Why auto-revert did it; undefined when a user asked for it. */
  readonly auto?: AutoRevert | undefined
  /** The id of the operation that this one undid. */
  readonly undoes?: string | undefined
  readonly files?: { readonly checkout: string; readonly moves: readonly FileMove[] } | undefined
  /** What a run changed beside its workspace. The operation of the run finds it done; only its undo writes. */
  readonly strays?: readonly StrayFiles[] | undefined
  /** Changes entries of the checkout's index (`moves`), or replaces the whole index file. */
  readonly index?: IndexPart | undefined
  /** Puts the checkout on another branch. */
  readonly head?: { readonly gitDir: string; readonly from: string; readonly to: string } | undefined
  readonly refs: readonly RefChange[]
  readonly workspace?: WorkspaceMove | undefined
  readonly step?: StepMove | undefined
  readonly record: { readonly from: TaskPatch; readonly to: TaskPatch }
  /** Why it cannot be undone. */
  readonly final?: string | undefined
}

/** The vault's note of a completed operation. */
export interface OperationNote {
  readonly at: string
  readonly patch: TaskPatch
  readonly left: readonly string[]
}
