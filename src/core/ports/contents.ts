/** Files and trees in the vault, for verbs that compare, merge and write files elsewhere; implemented by src/vault. */
import type { BytePath } from '../model/bytes.ts'
import type { CheckoutChange, CheckoutLook } from '../model/checkout-look.ts'
import type { Follow } from '../model/progress.ts'
import type { HeldFolder } from './held.ts'

import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Found, Leaf, LeafChange, Merged, MergeInput } from '../model/tree.ts'

/** Blobs and trees, by their object ids; a `null` tree is the empty one. */
export interface Contents {
  /** The files that differ between two trees. */
  compare(repo: Repo, from: string | null, to: string | null): Promise<Map<BytePath, LeafChange>>
  /** The output of `git diff` between two trees: full object ids, no renames, three lines of context. */
  readPatch(repo: Repo, from: string, to: string, signal?: AbortSignal): Promise<Buffer>
  /** Stores a content as a blob, and answers its object id. */
  write(repo: Repo, content: Uint8Array): Promise<string>
  /** Stores the tree that has these changes applied, and answers its object id; null deletes a file. */
  change(repo: Repo, tree: string | null, changes: ReadonlyMap<BytePath, Leaf | null>): Promise<string>
  /**
   * Reads these paths of a folder and stores their contents; a file that equals one of its `known` leaves is not stored
   * again. Never follows a symlink.
   */
  capture(
    repo: Repo,
    folder: string | HeldFolder,
    paths: Iterable<BytePath>,
    known?: ReadonlyMap<BytePath, readonly (Leaf | null)[]>,
    follow?: Follow,
  ): Promise<Map<BytePath, Found>>
  /** Stores all tracked and untracked files of the checkout, without the ignored ones, and answers the tree. */
  captureAll(repo: Repo, checkout: string, follow?: Follow): Promise<string>
  /** Stores the files of the checkout that differ from a commit, untracked but not ignored ones included; null: deleted. */
  captureChanges(
    repo: Repo,
    checkout: string,
    commit: string,
    follow?: Follow,
  ): Promise<Map<BytePath, Leaf | null>>
  /** Looks at a checkout before a run of the task; undefined when that takes too long. Writes nothing there. */
  lookAtCheckout(repo: Repo, task: Task, signal?: AbortSignal): Promise<CheckoutLook | undefined>
  /** What has changed in the checkout since, with the contents stored; undefined when that takes too long. */
  compareCheckout(repo: Repo, task: Task, seen: CheckoutLook): Promise<CheckoutChange[] | undefined>
  /** The ignored files that also match `patterns` (in the syntax of `.gitignore`); with `folders`, whole folders as one. */
  findIgnored(
    repo: Repo,
    checkout: string,
    patterns: string,
    folders: boolean,
    signal?: AbortSignal,
  ): Promise<BytePath[]>
  /** Merges three trees as `git merge-tree` does; conflicts are an answer, not an error. */
  merge(repo: Repo, input: MergeInput, signal?: AbortSignal): Promise<Merged>
  /** The entries of a folder of a tree, by name; a folder is null. Undefined when there is no such folder. */
  findEntries(
    repo: Repo,
    tree: string,
    folder: BytePath,
  ): Promise<ReadonlyMap<BytePath, Leaf | null> | undefined>
  /** The entry at a path of a tree. */
  findLeaf(repo: Repo, tree: string, file: BytePath): Promise<Leaf | undefined>
  /** The content of a file; undefined when it has more than `limit` bytes. */
  findContent(repo: Repo, leaf: Pick<Leaf, 'oid'>, limit: number): Promise<Buffer | undefined>
  /** Hands the content of a file over piece by piece, so that its size does not matter. */
  readPieces(repo: Repo, leaf: Pick<Leaf, 'oid'>, onPiece: (piece: Buffer) => void): Promise<void>
  /** The content of a file, whatever its size. */
  readContent(repo: Repo, leaf: Leaf): Promise<Buffer>
  /** Writes the content to a new file. */
  exportFile(repo: Repo, leaf: Leaf, target: string): Promise<void>
}
