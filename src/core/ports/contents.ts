import type { BytePath } from '../model/bytes.ts'
import type { Kept, KeptOperation } from '../model/operation.ts'
import type { Repo } from '../model/repo.ts'
import type { Found, IndexChange, Leaf, LeafChange, Merged, MergeInput } from '../model/tree.ts'

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
  take(
    repo: Repo,
    folder: string,
    paths: Iterable<BytePath>,
    known?: ReadonlyMap<BytePath, readonly (Leaf | null)[]>,
  ): Promise<Map<BytePath, Found>>
  /** Every file of the checkout as it is, tracked or not, but for what is ignored. */
  takeAll(repo: Repo, checkout: string, signal?: AbortSignal): Promise<string>
  /** What of the checkout differs from a commit, staged or not, tracked or not, but for what is ignored; null: deleted. */
  takeChanges(
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
  /** The paths of a checkout that may differ from an index; a repository inside is left out. */
  scan(repo: Repo, checkout: string, index: Leaf, signal?: AbortSignal): Promise<BytePath[]>
  /** The tree of an index file; undefined while it holds a merge that is not solved. */
  findIndexTree(repo: Repo, index: Leaf): Promise<string | undefined>
  /** The same tree in the user's own repository, for a ref that keeps what is staged there from being collected. */
  storeIndexTree(repo: Repo, index: Leaf): Promise<string>
  /** An index file like another, but for these entries, or with all entries those of a commit and no flags. */
  draftIndex(repo: Repo, index: Leaf, change: IndexChange): Promise<Leaf>
  merge(repo: Repo, input: MergeInput, signal?: AbortSignal): Promise<Merged>
  findLeaf(repo: Repo, tree: string, file: BytePath): Promise<Leaf | undefined>
  /** Undefined when it has more bytes than that. */
  findContent(repo: Repo, leaf: Leaf, limit: number): Promise<Buffer | undefined>
  readContent(repo: Repo, leaf: Leaf): Promise<Buffer>
  /** Writes the content to a new file. */
  exportFile(repo: Repo, leaf: Leaf, target: string): Promise<void>
  /** Keeps records and the trees they speak of, durably, each under its name. */
  keep(repo: Repo, kept: readonly Kept[]): Promise<void>
  findKept(repo: Repo, name: string): Promise<{ record: unknown; trees: Record<string, string> } | undefined>
  /** Notes, durably, that what is kept under these names has come to pass. */
  noteDone(repo: Repo, done: readonly { readonly name: string; readonly note: object }[]): Promise<void>
  readKept(repo: Repo): Promise<KeptOperation[]>
}
