/** What a run is watched for: the refs of the user's repository, its git folder without the objects, and its hooks. */
import type { BytePath } from './bytes.ts'

/** A file as it was when it was read. */
export interface WatchedFile {
  /** The git folder, or a folder of hooks beside it. */
  readonly folder: string
  /** Below `folder`. */
  readonly path: BytePath
  readonly kind: 'file' | 'link' | 'index' | 'special'
  /** As for `chmod`; 0 for all but files. */
  readonly permissions: number
  /** The bytes of a file, the target of a link; undefined for a special file, and for one that is too large to keep. */
  readonly content: Buffer | undefined
  /** What else has to be the same: hash, or size and time, of a file without content; the content that a link leads to. */
  readonly look: string
  /** Whether an undo can rename a file into `folder`: it is on the file system of the git folder. */
  readonly isNear: boolean
}

export interface Surroundings {
  /** The value of each ref, or `ref: ` and the name that a symbolic ref points to. */
  readonly refs: ReadonlyMap<string, string>
  /** The folders of hooks outside of the git folder. */
  readonly hookFolders: readonly string[]
  /** By the name that a person is told: a path in the git folder, or the full path of a hook elsewhere. */
  readonly files: ReadonlyMap<string, WatchedFile>
}
