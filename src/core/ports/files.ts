/** The file system and the disk; implemented by src/files (docs/adr/0023-microseconds-at-once.md). */
import type { FileKind } from '../model/file-kind.ts'
import type { HeldFolder } from './held.ts'

/** Reads and writes by name. No method follows a symlink in the last part of a path. */
export interface Files {
  /** undefined when nothing is there. */
  readKind(path: string): Promise<FileKind | undefined>
  /** undefined when nothing is there. */
  readText(path: string): Promise<string | undefined>
  /** At most `most` bytes of a plain file, from `from` on, and the size of all of it; undefined when no plain file is there. */
  readPart(
    path: string,
    from: number,
    most: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly size: number } | undefined>
  /** The SHA-256 of the content of a plain file, in hex; undefined when no plain file is there. */
  readHash(path: string): Promise<string | undefined>
  /** The mtime: the last write of a file, the last change of the names in a folder; undefined when nothing is there. */
  readTime(path: string): Promise<Date | undefined>
  /** The names in a folder; empty when there is no such folder. */
  readNames(folder: string): Promise<string[]>
  /** The path with every symlink resolved, for the part of it that exists. */
  readRealPath(path: string): Promise<string>
  /** Makes the folder and its parents; `mode` counts for each one made. */
  makeFolder(path: string, mode?: number): Promise<void>
  /** Makes one folder; throws `pathExists` when something is there already. */
  makeNewFolder(path: string): Promise<void>
  /** Replaces the file by rename, so that a reader sees the old or the new content, never half of it. */
  write(path: string, content: string, mode?: number): Promise<void>
  /** Writes a file that does not exist yet; false when something has that name. */
  writeNew(path: string, content: string): Promise<boolean>
  /** Appends to a file, without flushing it. Makes the file, but not its folder. */
  append(path: string, text: string, mode: number): Promise<void>
  /** Renames within one file system. */
  rename(from: string, to: string): Promise<void>
  /** Renames, or across file systems copies everything, gives the copy its name, and then deletes the old. */
  move(from: string, to: string): Promise<void>
  /** Holds a folder open, which others may change while we work below it, until it is closed. */
  hold(folder: string): HeldFolder
  /** Deletes an empty folder; does nothing when it is not empty or not there. */
  removeEmptyFolder(path: string): Promise<void>
  /** Deletes a file, a link or a whole folder. For files of offshoot only: files of users are renamed into the trash. */
  remove(path: string): Promise<void>
}

/** Writes that survive a power cut, copies and links. */
export interface DurableFiles {
  /** Replaces the file and flushes its content; its name is durable after `sync` of its folder. Makes the folder. */
  writeDurable(path: string, content: Uint8Array, mode: number): Promise<void>
  /** The same if nothing has that name yet; otherwise answers false, and leaves the present file as it is. */
  writeDurableNew(path: string, content: Uint8Array, mode: number): Promise<boolean>
  /** Appends to a file and flushes it. Makes the file, but not its folder. */
  appendDurable(path: string, text: string, mode: number): Promise<void>
  /** Writes the future content of `target` into a new file beside it, and answers its path. Makes the folder. */
  writeDraft(target: string, content: Uint8Array, mode: number): Promise<string>
  /** Flushes all drafts, then renames each to its target. All are on one file system. */
  placeDrafts(drafts: readonly { readonly draft: string; readonly target: string }[]): Promise<void>
  /** Flushes these files, and the names in these folders, to the disk. Who cancels does not wait for the disk. */
  sync(paths: readonly string[], signal?: AbortSignal): Promise<void>
  /** Copies a file, with the permissions `mode` or its own. */
  copy(from: string, to: string, mode?: number): Promise<void>
  /**
   * Copies the file or link `name` of one folder to another, where nothing may be yet, as a reflink if the file system can.
   * Makes its parents there. Follows no link below either folder.
   */
  copyNew(from: string, to: string, name: string, mode?: number): Promise<void>
  /** Makes the symlink `name` in the folder, where nothing may be yet, and its parents there. Follows no link below the folder. */
  link(target: string, folder: string, name: string): Promise<void>
}

/** Free space, and the disk usage of files. */
export interface Disk {
  /** The free and total bytes of the file system at `path`; `network`: several machines may write to it. */
  readFreeSpace(path: string): Promise<{ free: number; total: number; network: boolean }>
  /** The bytes that a file or a whole folder takes on the disk; 0 when nothing is there. */
  readUsage(path: string): Promise<number>
}

/** All three, as one adapter implements them. */
export type FileSystem = Files & DurableFiles & Disk
