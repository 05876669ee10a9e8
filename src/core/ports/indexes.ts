import type { BytePath } from '../model/bytes.ts'

import type { Repo } from '../model/repo.ts'
import type { IndexChange, Leaf } from '../model/tree.ts'

/** Index files of a user's checkout, kept as contents. */
export interface Indexes {
  /** The paths of a checkout that may differ from an index; a repository inside is left out. */
  scan(repo: Repo, checkout: string, index: Leaf, signal?: AbortSignal): Promise<BytePath[]>
  /** The tree of an index file; undefined while it holds a merge that is not solved. */
  findIndexTree(repo: Repo, index: Leaf): Promise<string | undefined>
  /** The same tree in the user's own repository, for a ref that keeps what is staged there from being collected. */
  storeIndexTree(repo: Repo, index: Leaf): Promise<string>
  /** An index file like another, but for these entries, or with all entries those of a commit and no flags. */
  draftIndex(repo: Repo, index: Leaf, change: IndexChange): Promise<Leaf>
}
