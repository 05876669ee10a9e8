/** Index files of a user's checkout, kept in the vault, for shadow branches; implemented by src/vault. */
import type { BytePath } from '../model/bytes.ts'

import type { Repo } from '../model/repo.ts'
import type { IndexChange, Leaf } from '../model/tree.ts'

/** Index files as blobs. A `Leaf` here is the blob that holds a whole index file. */
export interface Indexes {
  /** The paths of a checkout that may differ from an index, without nested repositories. */
  scan(repo: Repo, checkout: string, index: Leaf, signal?: AbortSignal): Promise<BytePath[]>
  /** The tree of an index file; undefined when it has unmerged entries. */
  findIndexTree(repo: Repo, index: Leaf): Promise<string | undefined>
  /** Writes the tree of an index into the user's repository, so that a ref can keep staged content from `git gc`. */
  storeIndexTree(repo: Repo, index: Leaf): Promise<string>
  /** Stores a copy of an index with some entries changed, or with the entries of a commit and no flags. */
  draftIndex(repo: Repo, index: Leaf, change: IndexChange): Promise<Leaf>
}
