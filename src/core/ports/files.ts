import type { FileKind } from '../model/file-kind.ts'

/** The file system. Nothing here follows a symlink in the last part of a path. */
export interface Files {
  /** undefined when nothing is there. */
  readKind(path: string): Promise<FileKind | undefined>
  /** undefined when nothing is there. */
  readText(path: string): Promise<string | undefined>
  /** When it was last written; of a folder, when a name in it came or went. undefined when nothing is there. */
  readTime(path: string): Promise<Date | undefined>
  /** Who may do what with it, as `chmod` has it; undefined when nothing is there. */
  readMode(path: string): Promise<number | undefined>
  /** The names in a folder; empty when there is no such folder. */
  readNames(folder: string): Promise<string[]>
  /** The path with every symlink resolved, for the part of it that exists. */
  readRealPath(path: string): Promise<string>
  /** Makes the folder and its parents; `mode` counts for each one made. */
  makeFolder(path: string, mode?: number): Promise<void>
  /** Throws `pathExists` when something is there already. */
  makeNewFolder(path: string): Promise<void>
  /** Replaces the file by rename, so that a reader sees the old or the new content, never a part. */
  write(path: string, content: string, mode?: number): Promise<void>
  /** False when something has that name. */
  writeNew(path: string, content: string): Promise<boolean>
  /** A link to `target`, where nothing is yet; makes the folder. */
  link(target: string, at: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** A rename, or across file systems a complete copy that takes its name at once, then removal of the old. */
  move(from: string, to: string): Promise<void>
  /** Does nothing when it is not empty or not there. */
  removeEmptyFolder(path: string): Promise<void>
  /** A file, a link, or a folder with all that is in it. Of ours only: whatever a user made is renamed into the trash. */
  remove(path: string): Promise<void>
}

/** Writes that survive a power cut, and copies. */
export interface DurableFiles {
  /** The same, on the disk when it returns but for its name, which `sync` of its folder makes durable. Makes the folder. */
  writeDurable(path: string, content: Uint8Array, mode: number): Promise<void>
  /** The same where nothing has that name yet; otherwise it answers false, and what is there stays. */
  writeDurableNew(path: string, content: Uint8Array, mode: number): Promise<boolean>
  /** Adds to the end of a file, on the disk when it returns. Makes the file, but not its folder. */
  appendDurable(path: string, text: string, mode: number): Promise<void>
  /** Writes what will be that file, beside it, and answers where. Makes the folder. */
  writeDraft(target: string, content: Uint8Array, mode: number): Promise<string>
  /** Each takes its name, when all of them are on the disk. On one file system. */
  placeDrafts(drafts: readonly { readonly draft: string; readonly target: string }[]): Promise<void>
  /** Makes durable what is in these files, and the names in these folders. */
  sync(paths: readonly string[]): Promise<void>
  copy(from: string, to: string): Promise<void>
  /** A file or a link, where nothing is yet, sharing the disk's blocks where that can be; makes the folder. */
  copyNew(from: string, to: string, mode?: number): Promise<void>
}

/** How full the disk is, and what takes the room. */
export interface Disk {
  /** `network`: on a file system that several machines may write to. */
  readFreeSpace(path: string): Promise<{ free: number; total: number; network: boolean }>
  /** How many bytes a file or a folder takes on the disk, with all that is in it; 0 when nothing is there. */
  readUsage(path: string): Promise<number>
}

/** All of it, as adapters use it. */
export type FileSystem = Files & DurableFiles & Disk
