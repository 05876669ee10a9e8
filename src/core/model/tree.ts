/** Entries of trees, index files and folders, and the merge of trees. */
import type { BytePath } from './bytes.ts'

export type Mode = '100644' | '100755' | '120000' | '160000'

/** A file in a tree: `{mode: '100755', oid: 'e69de29…'}` is an executable, `120000` a link, `160000` a submodule. */
export interface Leaf {
  readonly mode: Mode
  readonly oid: string
  /** The permission bits, for a file of the user that an undo has to restore exactly. */
  readonly permissions?: number | undefined
}

export interface LeafChange {
  readonly from: Leaf | null
  readonly to: Leaf | null
}

/** The entry at a path of a folder. If a parent is a file, the path is `gone`, and `blockedBy` names that file. */
export type Found =
  | {
      readonly kind: 'file'
      readonly leaf: Leaf
      readonly permissions: number
      /** How the file looked when it was read: a file that looks otherwise has been written since. */
      readonly look?: string | undefined
    }
  | { readonly kind: 'gone'; readonly blockedBy?: BytePath | undefined }
  | { readonly kind: 'folder' }
  | { readonly kind: 'special' }

export interface MergeInput {
  readonly base: string
  readonly ours: string
  readonly theirs: string
  /** The names of the two sides in conflict markers. */
  readonly labels: readonly [ours: string, theirs: string]
  /** Paths that the target's `.gitattributes` give `merge=union` or `-merge`. */
  readonly attributes?: ReadonlyMap<BytePath, 'union' | 'binary'> | undefined
}

export interface Merged {
  /** With conflict markers where there are conflicts. */
  readonly tree: string
  readonly conflicts: readonly Conflict[]
  /** By the path of a conflict: the new name of one side's file, when a folder or a link of the other side has its name. */
  readonly aside?: ReadonlyMap<string, string> | undefined
}

export interface Conflict {
  readonly path: string
  readonly kind:
    | 'content'
    | 'delete/modify'
    | 'add/add'
    | 'mode'
    | 'untracked'
    | 'symlink'
    | 'case'
    | 'rename'
    | 'changed'
    | 'markers'
  /** Of `markers`: the line of the first one. */
  readonly line?: number | undefined
  /** In a forecast: the lines of the task's file that conflict. */
  readonly lines?: readonly LineRange[] | undefined
}

/** `{from: 3, to: 5}` are the lines 3, 4 and 5. */
export interface LineRange {
  readonly from: number
  readonly to: number
}

export type IndexChange = { readonly commit: string } | { readonly moves: readonly IndexMove[] }

/** An entry of an index. */
export interface Tracked extends Leaf {
  /** A sparse checkout leaves the file out, so a missing file is not a deleted one. */
  readonly isLeftOut?: boolean
}

/** An entry of the index before and after. */
export interface IndexMove {
  readonly path: BytePath
  readonly from: Tracked | null
  readonly to: Tracked | null
}
