/** Writes into a user's checkout, for landing and undo; implemented by src/checkout. */
import type { BytePath } from '../model/bytes.ts'
import type { HeldFolder } from './held.ts'
import type { IndexMove, Leaf, Tracked } from '../model/tree.ts'

/** The files and the index of a checkout. Each method that writes is one effect. */
export interface Checkouts {
  /**
   * Renames the staged file to `file`, and answers the folder it is in. If what is there does not look like `seen` any more
   * (undefined: no file), somebody has written it since: it stays, and the answer is undefined. Throws `conflict` rather
   * than follow a symlink.
   */
  place(
    staged: string,
    checkout: HeldFolder,
    file: BytePath,
    leaf: Leaf,
    seen: string | undefined,
  ): Promise<string | undefined>
  /** Deletes the file, if it still looks like `seen`, and the folders that this leaves empty; answers the folder it was in. */
  removeFile(checkout: HeldFolder, file: BytePath, seen: string | undefined): Promise<string | undefined>
  /** Creates git's `index.lock`; throws `locked` when another git has it. `staging` is a folder for drafts. */
  lockIndex(gitDir: string, staging: string): Promise<void>
  /** Removes `index.lock`, if it is ours. */
  unlockIndex(gitDir: string, staging: string): Promise<void>
  /** Changes entries of the index in one rename, which also ends the lock. */
  changeIndex(gitDir: string, moves: readonly IndexMove[], staging: string): Promise<void>
  /** Replaces the index by the file in `staging`, and ends the lock. */
  placeIndex(gitDir: string, staging: string): Promise<void>
  /** The paths for which `.gitattributes` of the checkout asks for a union merge or for none. */
  readMergeRules(
    checkout: string,
    gitDir: string,
    files: readonly BytePath[],
  ): Promise<Map<BytePath, 'union' | 'binary'>>
  /** Every file below a folder of the checkout, tracked, untracked or ignored. */
  readFilesBelow(checkout: string, folder: BytePath): Promise<BytePath[]>
  /** The names in a folder of the checkout. */
  readNames(checkout: string, folder: BytePath): Promise<string[]>
  /** The entries of the index at these paths and below them. */
  readTracked(gitDir: string, files: readonly BytePath[]): Promise<Map<BytePath, Tracked>>
}
