import type { BytePath } from '../model/bytes.ts'
import type { IndexMove, Leaf, Tracked } from '../model/tree.ts'

/** A user's checkout, as far as an operation writes it. Each method is one effect. */
export interface Checkouts {
  /** The staged file takes its place; answers the folder it is in. Throws `conflict` rather than follow a link. */
  place(staged: string, checkout: string, file: BytePath, leaf: Leaf): Promise<string>
  /** The file goes, and the folders that it leaves empty; answers the folder it was in. */
  removeFile(checkout: string, file: BytePath): Promise<string>
  /** Takes git's own lock on the index; throws `locked` when another git has it. `staging` is a folder for drafts. */
  lockIndex(gitDir: string, staging: string): Promise<void>
  /** Gives the lock back, if it is ours. */
  unlockIndex(gitDir: string, staging: string): Promise<void>
  /** Changes entries of the index, all at once, and gives the lock back. */
  changeIndex(gitDir: string, moves: readonly IndexMove[], staging: string): Promise<void>
  /** The index file that was staged there takes its place, and the lock is given back. */
  placeIndex(gitDir: string, staging: string): Promise<void>
  /** How the target's attributes merge these paths, where that is not line by line. */
  readMergeRules(
    checkout: string,
    gitDir: string,
    files: readonly BytePath[],
  ): Promise<Map<BytePath, 'union' | 'binary'>>
  /** Every file below a folder of the checkout, whatever it is. */
  readFilesBelow(checkout: string, folder: BytePath): Promise<BytePath[]>
  readNames(checkout: string, folder: BytePath): Promise<string[]>
  /** Of these paths, the ones that the index knows, and all that it knows below them. */
  readTracked(gitDir: string, files: readonly BytePath[]): Promise<Map<BytePath, Tracked>>
}
