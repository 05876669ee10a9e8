import type { BytePath } from './bytes.ts'

export type Mode = '100644' | '100755' | '120000' | '160000'

/** A file: its kind and its content. */
export interface Leaf {
  readonly mode: Mode
  readonly oid: string
  /** Of a file of the user's that is to come back just as it was. */
  readonly permissions?: number | undefined
}

export interface LeafChange {
  readonly from: Leaf | null
  readonly to: Leaf | null
}

/** What lies at a path of a folder. A path below something that is no folder is `gone`, and says what is in the way. */
export type Found =
  | { readonly kind: 'file'; readonly leaf: Leaf; readonly permissions: number }
  | { readonly kind: 'gone'; readonly blockedBy?: BytePath | undefined }
  | { readonly kind: 'folder' }
  | { readonly kind: 'special' }

export interface MergeInput {
  readonly base: string
  readonly ours: string
  readonly theirs: string
  /** What the two sides are called in conflict markers. */
  readonly labels: readonly [ours: string, theirs: string]
  /** Paths that the target's attributes merge in their own way. */
  readonly attributes?: ReadonlyMap<BytePath, 'union' | 'binary'> | undefined
}

export interface Merged {
  /** With conflict markers where there are conflicts. */
  readonly tree: string
  readonly conflicts: readonly Conflict[]
  /** By the path of the conflict, the name that one side's file has in the tree, as a folder or a link took its place. */
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
}

export type IndexChange = { readonly commit: string } | { readonly moves: readonly IndexMove[] }

/** An entry of an index. */
export interface Tracked extends Leaf {
  /** A sparse checkout leaves it out: that it is not there says nothing. */
  readonly isLeftOut?: boolean
}

/** One before and after. */
export interface IndexMove {
  readonly path: BytePath
  readonly from: Tracked | null
  readonly to: Tracked | null
}
