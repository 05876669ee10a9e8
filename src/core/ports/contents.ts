import type { BytePath } from '../model/bytes.ts'

import type { Repo } from '../model/repo.ts'
import type { Found, Leaf, LeafChange, Merged, MergeInput } from '../model/tree.ts'

/** The vault's contents, for verbs that compare, merge and write files elsewhere. Paths are bytes. */
export interface Contents {
  compare(repo: Repo, from: string | null, to: string | null): Promise<Map<BytePath, LeafChange>>
  /** What `git diff` says lies between two trees: with full object ids, no renames, and three lines around each change. */
  readPatch(repo: Repo, from: string, to: string, signal?: AbortSignal): Promise<Buffer>
  /** Stores a content, and answers its id. */
  write(repo: Repo, content: Uint8Array): Promise<string>
  /** The tree after the changes; null deletes. */
  change(repo: Repo, tree: string | null, changes: ReadonlyMap<BytePath, Leaf | null>): Promise<string>
  /** Captures what lies at these paths of a folder, unless it is known. Never follows a link. */
  capture(
    repo: Repo,
    folder: string,
    paths: Iterable<BytePath>,
    known?: ReadonlyMap<BytePath, readonly (Leaf | null)[]>,
  ): Promise<Map<BytePath, Found>>
  /** Every file of the checkout as it is, tracked or not, but for what is ignored. */
  captureAll(repo: Repo, checkout: string, signal?: AbortSignal): Promise<string>
  /** What of the checkout differs from a commit, staged or not, tracked or not, but for what is ignored; null: deleted. */
  captureChanges(
    repo: Repo,
    checkout: string,
    commit: string,
    signal?: AbortSignal,
  ): Promise<Map<BytePath, Leaf | null>>
  /** Ignored files that these patterns name too, in the syntax of a .gitignore; with `folders`, folders as a whole. */
  findIgnored(
    repo: Repo,
    checkout: string,
    patterns: string,
    folders: boolean,
    signal?: AbortSignal,
  ): Promise<BytePath[]>
  merge(repo: Repo, input: MergeInput, signal?: AbortSignal): Promise<Merged>
  findLeaf(repo: Repo, tree: string, file: BytePath): Promise<Leaf | undefined>
  /** Undefined when it has more bytes than that. */
  findContent(repo: Repo, leaf: Leaf, limit: number): Promise<Buffer | undefined>
  readContent(repo: Repo, leaf: Leaf): Promise<Buffer>
  /** Writes the content to a new file. */
  exportFile(repo: Repo, leaf: Leaf, target: string): Promise<void>
}
