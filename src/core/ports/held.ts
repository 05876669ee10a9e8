/** A folder that is held open while others may change it; implemented by src/files (docs/adr/0038-folders-held-open.md). */
import type { BytePath } from '../model/bytes.ts'

/**
 * Paths below one folder, none of which leads through a link, whoever exchanges folders meanwhile. All calls are synchronous:
 * a path that is handed out counts only until its call ends.
 */
export interface HeldFolder {
  readonly root: string
  /**
   * Runs `act` with a path that leads to `file`; `act` must not follow a link in its last part. Throws `conflict` when a
   * parent is a link or a file, and ENOENT when one is missing. Where folders cannot be held open, `undo` takes `act` back
   * if a parent was exchanged meanwhile.
   */
  at<T>(file: BytePath, act: (path: string | Buffer) => T, undo?: (path: string | Buffer) => void): T
  /** Makes the folders that lead to `file`, if they are missing. */
  makeParents(file: BytePath): void
  /** Whether a folder is there, or a link or a file in its place. Throws `conflict` if it is not the one that was used before. */
  look(folder: BytePath): 'folder' | 'blocked' | 'missing'
  /** What is in a folder. */
  list(folder: BytePath): { readonly name: BytePath; readonly isFolder: boolean }[]
  /** Removes the folder if it is empty, and answers whether it was. */
  removeEmpty(folder: BytePath): boolean
  /** The folder was moved away: what is at its path from now on is another one. */
  forget(folder: BytePath): void
  /** Throws `conflict` if a folder that was used is not at its path any more: then files are not where they should be. */
  requireInPlace(): void
  close(): void
}
