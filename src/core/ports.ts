/**
 * Every way out of the core, on one page. A verb is handed these and nothing else, so a test can put a fault in
 * front of each single effect. Methods that change the world are listed in `effects` below.
 */
import type { StoredEvent, TaskEvent } from './events.ts'
import type { Settings } from './settings.ts'
import type { Owner, Task } from './task.ts'

export interface Ports {
  readonly clock: Clock
  readonly ids: Ids
  readonly files: Files
  readonly git: Git
  readonly store: Store
  readonly locks: Locks
  readonly processes: Processes
  readonly settings: SettingsSource
  /** The state folder. */
  readonly home: string
  /** What `~` stands for in settings. */
  readonly userHome: string
}

export interface Clock {
  now(): Date
}

export interface Ids {
  /** 20 characters of [0-9a-z], never handed out twice. */
  uid(): string
}

export type FileKind = 'file' | 'folder' | 'link' | 'other'

/** The file system. Nothing here follows a symlink in the last part of a path. */
export interface Files {
  /** undefined when nothing is there. */
  readKind(path: string): Promise<FileKind | undefined>
  /** undefined when nothing is there. */
  readText(path: string): Promise<string | undefined>
  /** The names in a folder; empty when there is no such folder. */
  readNames(folder: string): Promise<string[]>
  /** The path with every symlink resolved, for the part of it that exists. */
  readRealPath(path: string): Promise<string>
  readFreeSpace(path: string): Promise<{ free: number; total: number }>
  /** Makes the folder and its parents; `mode` counts for each one made. */
  makeFolder(path: string, mode?: number): Promise<void>
  /** Throws WT_001 when something is there already. */
  makeNewFolder(path: string): Promise<void>
  /** Replaces the file by rename, so that a reader sees the old or the new content, never a part. */
  write(path: string, content: string, mode?: number): Promise<void>
  copy(from: string, to: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** A rename, or across file systems a complete copy that takes its name at once, then removal of the old. */
  move(from: string, to: string): Promise<void>
  /** Does nothing when it is not empty or not there. */
  removeEmptyFolder(path: string): Promise<void>
  /** A file, a link, or a folder with all that is in it. Of ours only: whatever a user made is renamed into the trash. */
  remove(path: string): Promise<void>
}

/** Where a repository is. */
export interface Place {
  /** The folder that all worktrees share: what identifies the repository on this machine. */
  readonly commonDir: string
  readonly gitDir: string
  /** The root of the checkout in hand; null in a bare repository. */
  readonly checkout: string | null
}

export interface RefChange {
  readonly ref: string
  /** What it must be now; null: it must not exist. */
  readonly old: string | null
  /** What it shall be; null: deleted. */
  readonly new: string | null
}

export interface Worktree {
  /** The name of its registration below `worktrees/`; null for the main checkout. */
  readonly name: string | null
  readonly path: string
  /** The branch it is on; null when detached. */
  readonly branch: string | null
}

/** What is in a workspace that a removal would take away. */
export interface Dirt {
  readonly changed: readonly string[]
  readonly untracked: readonly string[]
  readonly ignored: readonly string[]
}

/** Git, in the nouns that the verbs need. Reads answer undefined for "not there" and throw for everything else. */
export interface Git {
  /** Throws WT_015 unless the installed git can do what we need; answers its version. */
  requireVersion(signal?: AbortSignal): Promise<string>
  /** Throws WT_009 when `dir` is in no repository. Spawns nothing. */
  locate(dir: string): Promise<Place>
  /** HEAD of the checkout in hand: the branch it is on, null when detached. */
  readHeadBranch(place: Place): Promise<string | null>
  /** The commit that a revision names; undefined when it names none. */
  findCommit(place: Place, rev: string, signal?: AbortSignal): Promise<string | undefined>
  /** The value of a full ref name; undefined when there is none. */
  findRef(place: Place, ref: string, signal?: AbortSignal): Promise<string | undefined>
  /** Branches that one of this name cannot stand beside: the same, `a` for `a/b`, `a/b` for `a`. */
  findRivals(place: Place, branch: string, signal?: AbortSignal): Promise<string[]>
  /** The message of the ref's last reflog entry; undefined without one. */
  findReflogMessage(place: Place, ref: string): Promise<string | undefined>
  readWorktrees(place: Place): Promise<Worktree[]>
  readDirt(place: Place, folder: string, signal?: AbortSignal): Promise<Dirt>
  /** The mark that a repository carries, so that it is known again after it was moved. */
  findRepoMark(place: Place, signal?: AbortSignal): Promise<{ id: string; blob: string } | undefined>
  writeRepoMark(place: Place, id: string, signal?: AbortSignal): Promise<{ blob: string }>
  /** All or none, each only if it still has its old value; false when one had not. */
  changeRefs(
    place: Place,
    changes: readonly RefChange[],
    message: string,
    signal?: AbortSignal,
  ): Promise<boolean>
  /** Registers a linked worktree on `branch`: its folder and `.git` file, no files yet. */
  registerWorktree(place: Place, path: string, branch: string, mark: object): Promise<void>
  /** Takes the registration away, keeping a copy of it in the folder `keep`. */
  unregisterWorktree(place: Place, name: string, keep: string): Promise<void>
  /** Fills a registered worktree with the files of its HEAD, with the user's own conversions. */
  fillWorktree(place: Place, folder: string, signal?: AbortSignal): Promise<void>
  /** Takes away the lock files that a killed change of these refs left behind. */
  clearRefLocks(place: Place, refs: readonly string[]): Promise<void>
}

export interface RepoRecord {
  readonly id: string
  /** Its folder name in the state folder. */
  readonly name: string
  readonly commonDir: string
  /** The object that `refs/offshoot/repo` points at. */
  readonly mark: string
  readonly addedAt: string
}

export interface TaskFilter {
  readonly repo?: string
  /** true: only open ones; false: only closed ones; left out: all. */
  readonly open?: boolean
  readonly limit?: number
}

/**
 * Records and events. An append and the task's summary row are one durable transaction. A task's repository must be
 * put first; hidden tasks are found by uid only.
 */
export interface Store {
  findRepo(commonDir: string): RepoRecord | undefined
  findRepoById(id: string): RepoRecord | undefined
  readRepos(): RepoRecord[]
  putRepo(repo: RepoRecord): void
  findOpenTask(repo: string, id: string): Task | undefined
  /** The newest task of that id, open or closed. */
  findTask(repo: string, id: string): Task | undefined
  findTaskByUid(uid: string): Task | undefined
  findTaskByPath(path: string): Task | undefined
  /** Newest first. */
  readTasks(filter: TaskFilter): Task[]
  countOpenTasks(repo: string): number
  /** Tasks in the middle of a verb. */
  readPendingTasks(): Task[]
  /**
   * Appends to the task's log and answers the task as it now is. `expected` is the number of events the caller has
   * seen; throws WT_012 when another writer was faster, WT_013 when the id is taken by another open task.
   */
  append(uid: string, event: TaskEvent, at: string, expected?: number): Task
  readEvents(options: { after?: number; uid?: string; limit?: number }): StoredEvent[]
  findNote(key: string): string | undefined
  putNote(key: string, value: string): void
  close(): void
}

export interface LockOptions {
  readonly verb: string
  /** How long to wait for the present holder; 0 asks once. */
  readonly waitMs?: number
  readonly signal?: AbortSignal | undefined
}

/** Locks across processes that the kernel releases when their holder dies. */
export interface Locks {
  /** Runs `work` alone under that name. Throws WT_012, naming the holder, when the wait was in vain. */
  hold<T>(name: string, options: LockOptions, work: () => Promise<T>): Promise<T>
}

export interface Processes {
  self(): Owner
  isAlive(owner: Owner): boolean
  /** Ends the git processes that a dead owner left running, and answers how many there were. */
  endChildren(owner: Owner): Promise<number>
}

export interface SettingsSource {
  /** Throws WT_016 when a file or variable is wrong. */
  read(checkout: string | null): Promise<Settings>
  /** Each value with where it comes from: `default`, a file, a variable or a flag. */
  readWithOrigin(checkout: string | null): Promise<{ key: string; value: unknown; origin: string }[]>
}

/** The methods that change the world: where a fault can strike. */
export const effects = {
  files: ['makeFolder', 'makeNewFolder', 'write', 'copy', 'rename', 'move', 'remove', 'removeEmptyFolder'],
  store: ['putRepo', 'append', 'putNote'],
} as const satisfies { files: (keyof Files)[]; store: (keyof Store)[] }
