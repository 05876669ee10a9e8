/**
 * Every way out of the core, on one page. A verb is handed these and nothing else, so a test can put a fault in
 * front of each single effect. Methods that change the world are listed in `effects` below.
 */
import type { Agent } from './model/agent.ts'
import type { BytePath } from './model/bytes.ts'
import type { FileKind } from './model/file-kind.ts'
import type {
  CommitsBeside,
  GitLock,
  HeldBranch,
  HookCall,
  HookEnd,
  LeftBehind,
  NewRef,
  OtherFolder,
  Push,
  RefChange,
  Registration,
  Submodules,
  Worktree,
} from './model/git.ts'
import type { Gone, Kept, KeptOperation } from './model/operation.ts'
import type { OnProgress } from './model/progress.ts'
import type { Place, Repo, RepoRecord } from './model/repo.ts'
import type { Settings } from './model/settings.ts'
import type {
  DiffOptions,
  DiffStat,
  Published,
  ReplayStep,
  Snapshot,
  Step,
  StepFile,
  StepNote,
  VaultLook,
} from './model/step.ts'
import type { Owner, Task } from './model/task.ts'
import type {
  Found,
  IndexChange,
  IndexMove,
  Leaf,
  LeafChange,
  Merged,
  MergeInput,
  Tracked,
} from './model/tree.ts'
import type { Commands } from './ports/commands.ts'
import type { Sandboxes } from './ports/sandbox.ts'
import type { Notes, RepoRecords, Store } from './ports/store.ts'

/** What the verbs need that only look into the records. Nothing of it spawns anything. */
export interface Records {
  readonly store: Store
  readonly repos: RepoRecords
  readonly notes: Notes
  /** Throws WT_009 when `dir` is in no repository. */
  locate(dir: string): Promise<Place>
  /** Whether whoever is in the middle of a verb still runs. */
  isAlive(owner: Owner): Promise<boolean>
}

export interface Ports extends Records {
  readonly clock: Clock
  readonly ids: Ids
  readonly files: Files
  readonly git: Git
  readonly vault: Vault
  readonly contents: Contents
  readonly checkouts: Checkouts
  readonly isolations: Isolations
  readonly slots: Slots
  readonly locks: Locks
  readonly processes: Processes
  readonly sockets: Sockets
  readonly settings: SettingsSource
  readonly commands: Commands
  readonly sandboxes: Sandboxes
  /** Those that come with offshoot. */
  readonly agents: readonly Agent[]
  /** What a module of the user's exports. Throws WT_016 when it cannot be loaded. */
  loadModule(file: string): Promise<readonly unknown[]>
  /** Puts all records out of use, and keeps in the folder what can be kept of them; the next use begins without any. */
  setRecordsAside(folder: string): Promise<void>
  /** Work that nobody waits for; it is done again by whoever needs it, should it fail. */
  later(work: () => Promise<unknown>): void
  /** Has workspaces made ahead for the repository that the folder is in, by a process of its own; nobody waits for it. */
  makeAhead(dir: string, settings: Settings): void
  /** The state folder. */
  readonly home: string
  /** What `~` stands for in settings. */
  readonly userHome: string
  /** Where anybody may leave a file for a while. */
  readonly temp: string
}

export interface Clock {
  now(): Date
}

interface Ids {
  /** 20 characters of [0-9a-z], never handed out twice. */
  uid(): string
}

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
  /** `network`: on a file system that several machines may write to. */
  readFreeSpace(path: string): Promise<{ free: number; total: number; network: boolean }>
  /** How many bytes a file or a folder takes on the disk, with all that is in it; 0 when nothing is there. */
  readUsage(path: string): Promise<number>
  /** Makes the folder and its parents; `mode` counts for each one made. */
  makeFolder(path: string, mode?: number): Promise<void>
  /** Throws WT_001 when something is there already. */
  makeNewFolder(path: string): Promise<void>
  /** Replaces the file by rename, so that a reader sees the old or the new content, never a part. */
  write(path: string, content: string, mode?: number): Promise<void>
  /** The same, on the disk when it returns but for its name, which `sync` of its folder makes durable. Makes the folder. */
  writeDurable(path: string, content: Uint8Array, mode: number): Promise<void>
  /** False when something has that name. */
  writeNew(path: string, content: string): Promise<boolean>
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

/** Git, in the nouns that the verbs need. Reads answer undefined for "not there" and throw for everything else. */
export interface Git {
  /** Throws WT_015 unless the installed git can do what we need; answers its version. */
  requireVersion(signal?: AbortSignal): Promise<string>
  /** HEAD of the checkout in hand: the branch it is on, null when detached. */
  readHeadBranch(place: Place): Promise<string | null>
  /** The commit that a revision names; undefined when it names none. */
  findCommit(place: Place, rev: string, signal?: AbortSignal): Promise<string | undefined>
  /** The value of a full ref name; undefined when there is none. */
  findRef(place: Place, ref: string, signal?: AbortSignal): Promise<string | undefined>
  /** Branches that one of this name cannot stand beside: the same, `a` for `a/b`, `a/b` for `a`. */
  findRivals(place: Place, branch: string): Promise<string[]>
  /** The message of the ref's last reflog entry; undefined without one. */
  findReflogMessage(place: Place, ref: string): Promise<string | undefined>
  /** Whether a change with that message is anywhere in the ref's reflog. */
  isInReflog(place: Place, ref: string, message: string): Promise<boolean>
  readWorktrees(place: Place): Promise<Worktree[]>
  /** Who will come back to the branch, although it is checked out nowhere: a rebase, a bisect. */
  findHolder(place: Place, branch: string): Promise<HeldBranch | undefined>
  /** The same for the linked ones, with what only a careful look needs to know. */
  readRegistrations(place: Place): Promise<Registration[]>
  /** Every ref below these names, with its value. */
  readRefs(place: Place, below: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, string>>
  /** Locks of git in the repository, whoever's they are, by their names in the git folder. */
  readLocks(place: Place): Promise<GitLock[]>
  isAncestor(place: Place, commit: string, of: string, signal?: AbortSignal): Promise<boolean>
  readBeside(place: Place, tip: string, target: string, signal?: AbortSignal): Promise<CommitsBeside>
  /** Whether one commit of the target, since both went apart, holds all that the branch changed. */
  isSquashed(place: Place, tip: string, target: string, signal?: AbortSignal): Promise<boolean>
  /** What agents should leave alone: refs with their values, files of config and hooks with their hashes. */
  readSurroundings(place: Place): Promise<ReadonlyMap<string, string>>
  /** The mark that a repository carries, so that it is known again after it was moved. */
  findRepoMark(place: Place, signal?: AbortSignal): Promise<{ id: string; blob: string } | undefined>
  /** Stores the mark; no ref points to it yet. */
  writeRepoMark(place: Place, id: string, signal?: AbortSignal): Promise<string>
  /** New ones, in the order given; false when a name is taken. */
  createRefs(place: Place, refs: readonly NewRef[], message: string, signal?: AbortSignal): Promise<boolean>
  /** All or none, each only if it still has its old value; false when one had not. */
  changeRefs(
    place: Place,
    changes: readonly RefChange[],
    message: string,
    signal?: AbortSignal,
  ): Promise<boolean>
  /** Puts the checkout on a branch; files and index stay as they are. */
  moveHead(place: Place, branch: string, message: string): Promise<void>
  /** Checks out, in a fresh workspace, the submodules of a commit that the user's repository has; reaches no other machine. */
  fillSubmodules(repo: Repo, task: Task, commit: string, signal?: AbortSignal): Promise<Submodules>
  /** Files of the workspace that are only a pointer to their content in Git LFS. */
  findPointers(repo: Repo, task: Task, signal?: AbortSignal): Promise<string[]>
  /** Runs a hook of the user's repository in its checkout; one that is not there has nothing to say. */
  runHook(place: Place, hook: HookCall, signal?: AbortSignal): Promise<HookEnd>
  /**
   * Takes away what a killed change of these refs left behind: locks, and the log of a ref that never came to be.
   * With `since`, what is older stays, as somebody else's; without it the refs must be ours alone.
   */
  clearRefLocks(place: Place, refs: readonly string[], since?: string): Promise<void>
  /** Takes away what is there of a ref of ours and says nothing, so that it can be made again. */
  clearBrokenRef(place: Place, ref: string): Promise<void>
  /** Takes away what such a git left of the locks that it has in common with every other. */
  clearSharedLocks(left: LeftBehind): Promise<void>
}

/** One way to give a task a folder and a git of its own. */
export interface IsolationKind {
  /** The folder, its git on the task's branch, and the files of the base commit, with the user's own conversions. */
  make(repo: Repo, task: Task, signal?: AbortSignal, onProgress?: OnProgress): Promise<void>
  /** Makes the workspace's index that of its HEAD, and leaves the files alone. */
  resetIndex(repo: Repo, task: Task, signal?: AbortSignal): Promise<void>
  /** Makes the index and the files those of its HEAD. */
  checkOut(repo: Repo, task: Task, signal?: AbortSignal): Promise<void>
  /** What is wrong with the workspace's git, in words; undefined when nothing is. Changes nothing. */
  findFault(repo: Repo, task: Task, signal?: AbortSignal): Promise<string | undefined>
  /**
   * Makes the workspace's git right again, and answers whether it was wrong. What was in the place of `.git` is moved
   * to `aside`.
   */
  mend(repo: Repo, task: Task, aside: string, signal?: AbortSignal): Promise<boolean>
  /** The other folder that has what the workspace should have outside of its own; that is left alone. */
  findOther(repo: Repo, task: Task): Promise<OtherFolder | undefined>
  /** Takes away what the workspace has outside of its folder, keeping a copy of it in the folder `keep`. */
  detach(repo: Repo, task: Task, keep: string): Promise<void>
  /** Puts that back. */
  attach(repo: Repo, task: Task, kept: string): Promise<void>
}

/** Workspaces that are made ahead of need, each in a folder of its own. */
export interface Slots {
  /** Fills a new folder with the files of a commit, with the user's own conversions. */
  fill(repo: Repo, slot: string, commit: string, signal?: AbortSignal): Promise<void>
  /** What a look tells that costs the same whatever the size: another one than before means that it was touched. */
  readLook(slot: string): Promise<string>
  /** Makes its files those of another commit, touching only those that differ; false when that would not be enough. */
  advance(repo: Repo, slot: string, from: string, to: string, signal?: AbortSignal): Promise<boolean>
  /** Its files become the workspace of the task, and its git the registration. */
  handOver(repo: Repo, task: Task, slot: string): Promise<void>
}

type Isolations = Readonly<Record<'worktree' | 'clone', IsolationKind>>

/** Keeps every state of every workspace, out of reach of what happens to the workspace's own git. */
export interface Vault {
  /** Keeps what only a fresh workspace can tell: how its files look, and the repository's config. */
  prepare(repo: Repo, task: Task): Promise<void>
  /** The same ahead of need, and step 0's tree, in the folder of a slot that holds the files of a commit. */
  prepareSlot(repo: Repo, slot: string, commit: string, signal?: AbortSignal): Promise<void>
  /** What was prepared with the slot is the task's. */
  takeSlot(repo: Repo, task: Task, slot: string): Promise<void>
  /** All that decides how a checkout writes files, as one word; undefined when that cannot be told. */
  findConversions(repo: Repo, signal?: AbortSignal): Promise<string | undefined>
  /** Whether the workspace surely holds the bytes of its base commit. A quick look that may answer no for yes. */
  isPlain(repo: Repo, task: Task): Promise<boolean>
  /** Makes step 0, unless it is there. The workspace must be as it was made. */
  seed(repo: Repo, task: Task, signal?: AbortSignal): Promise<Step>
  /** The same with changes of the user's: they are written into the workspace first, and are a part of step 0. */
  seedWith(
    repo: Repo,
    task: Task,
    changes: ReadonlyMap<BytePath, Leaf | null>,
    signal?: AbortSignal,
  ): Promise<Step>
  /** The tree of step 0 as git stores it: that of the base commit, and what the workspace was started with on top. */
  readStart(repo: Repo, task: Task, signal?: AbortSignal): Promise<string>
  /** Takes a copy of all that step 0 holds, so that the steps outlive the user's own objects. */
  adopt(repo: Repo, task: Task, signal?: AbortSignal): Promise<void>
  /** To be called when the workspace has been made again as it was at the start. */
  reseed(repo: Repo, task: Task): Promise<void>
  findTip(repo: Repo, task: Task): Promise<Step | undefined>
  /** Every step from 0 on. */
  readSteps(repo: Repo, task: Task): Promise<Step[]>
  /** The files of each step against the one before. */
  readFiles(repo: Repo, steps: readonly Step[], signal?: AbortSignal): Promise<StepFile[][]>
  /** Takes the workspace as it is. `paths` names what may have changed; without it everything is looked at. */
  snapshot(
    repo: Repo,
    task: Task,
    note: StepNote,
    paths?: readonly string[],
    signal?: AbortSignal,
  ): Promise<Snapshot>
  /** These paths of the workspace are never a part of a step. */
  keepOut(repo: Repo, task: Task, paths: readonly BytePath[]): Promise<void>
  /** What the workspace holds that neither the last step nor its HEAD has. */
  readDirt(repo: Repo, task: Task, signal?: AbortSignal): Promise<readonly StepFile[]>
  /** Whether the last step holds all that is in a folder that was the workspace, but for what the rules ignore. */
  isKept(repo: Repo, task: Task, folder: string, signal?: AbortSignal): Promise<boolean>
  /** How many bytes it takes on the disk. */
  readUsage(repo: Repo): Promise<number>
  /** Lets go of what nobody can bring back any more, and packs the rest. */
  compact(repo: Repo, gone: Gone, signal?: AbortSignal): Promise<void>
  /** What the rules ignore, folders as a whole. */
  readIgnored(repo: Repo, task: Task, signal?: AbortSignal): Promise<string[]>
  readStat(repo: Repo, from: Step, to: Step, signal?: AbortSignal): Promise<DiffStat>
  readDiff(repo: Repo, from: Step, to: Step, options: DiffOptions, signal?: AbortSignal): Promise<Buffer>
  /** Makes the files of the workspace those of `to`, knowing that they are those of `from` now; null: it is empty. */
  restore(repo: Repo, task: Task, from: Step | null, to: Step, signal?: AbortSignal): Promise<void>
  /** Brings the steps into the user's repository, on the task's branch. */
  publish(repo: Repo, task: Task, signal?: AbortSignal): Promise<Published>
  /** The tree of a commit of the user's. */
  readTree(repo: Repo, commit: string): Promise<string>
  /** The new contents as `git add` would store them, with the user's conversions. */
  clean(
    repo: Repo,
    task: Task,
    changes: ReadonlyMap<BytePath, LeafChange>,
    signal?: AbortSignal,
  ): Promise<Map<BytePath, Leaf | null>>
  /** A stored content as a checkout would write it. */
  smudge(repo: Repo, task: Task, checkout: string, file: BytePath, leaf: Leaf): Promise<Leaf>
  /** A commit of the user's, with their name and signature, brought into their repository. */
  commit(
    repo: Repo,
    task: Task,
    parts: { tree: string; parents: readonly string[]; message: string },
    signal?: AbortSignal,
  ): Promise<string>
  /** Where a remote is pushed to: as the repository's config said at the start, and as it says now. */
  findRemote(
    repo: Repo,
    task: Task,
    remote: string,
  ): Promise<{ before: string | undefined; now: string | undefined }>
  /** A git folder with the repository's config as it was at the start; answers its path. */
  makePushRoom(repo: Repo, task: Task): Promise<string>
  /** Sends a commit of the user's repository to another one, under the name of a branch. */
  push(repo: Repo, task: Task, push: Push, signal?: AbortSignal): Promise<void>
  /** The agent's own commits and what it did not commit, or else the steps: what a rebase replays. */
  readReplay(repo: Repo, task: Task, signal?: AbortSignal): Promise<ReplayStep[]>
  /** The id that each published step has in the user's repository. */
  readPublished(repo: Repo, task: Task): Promise<ReadonlyMap<number, string>>
  /** Every vault in the state folder, with the repository it belongs to, if it says so, or why it cannot be read. */
  readVaults(): Promise<{ name: string; repo?: RepoRecord | undefined; why?: string }[]>
  /** The tasks of which the vault of that name has steps. */
  readUids(name: string): Promise<string[]>
  /** What these tasks are called, by uid, as far as the vault knows. Does not touch it. */
  readIds(
    repo: RepoRecord,
    uids: readonly string[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, string>>
  /** The task as it was at its start. */
  findRecord(repo: Repo, uid: string): Promise<Task | undefined>
  /** Looks at the vault without touching it; `deep`, also whether all that the steps hold is there. */
  inspect(repo: Repo, deep: boolean, signal?: AbortSignal): Promise<VaultLook>
  /** Makes again what a vault is made of besides its contents. */
  remake(repo: Repo): Promise<void>
  /** Makes that step, or without one step 0, the last one of a task whose ref is lost; false when it is not there. */
  mendTip(repo: Repo, task: Task, commit: string | undefined): Promise<boolean>
  close(): void
}

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

/** A user's checkout, as far as an operation writes it. Each method is one effect. */
export interface Checkouts {
  /** The staged file takes its place; answers the folder it is in. Throws WT_011 rather than follow a link. */
  place(staged: string, checkout: string, file: BytePath, leaf: Leaf): Promise<string>
  /** The file goes, and the folders that it leaves empty; answers the folder it was in. */
  take(checkout: string, file: BytePath): Promise<string>
  /** Takes git's own lock on the index; throws WT_012 when another git has it. `staging` is a folder for drafts. */
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
  /** Those who died while a child of theirs ran. */
  readDeadOwners(): Owner[]
  /**
   * Ends the processes that a dead owner left running, and answers how many there were. `clear` then takes away what
   * they left, and is told which of them changed refs; should it fail, the owner stays on record.
   */
  endChildren(owner: Owner, clear?: (left: readonly LeftBehind[]) => Promise<void>): Promise<number>
  /** The run that we are a part of: a process above us carries its mark. */
  findRun(): string | undefined
  /** Ends all that a run has started, wherever it went, and answers how many there were. */
  endRun(run: string): Promise<number>
}

export interface Sockets {
  /** Of these ports of the machine, the ones that somebody listens on. */
  readBusy(ports: readonly number[]): Promise<ReadonlySet<number>>
}

export interface SettingsSource {
  /** Throws WT_016 when a file or variable is wrong. */
  read(checkout: string | null): Promise<Settings>
  /** Each value with where it comes from: `default`, a file, a variable or a flag. */
  readWithOrigin(checkout: string | null): Promise<{ key: string; value: unknown; origin: string }[]>
  /** Variables that look like settings and are none, each with the one that was probably meant. */
  readUnknownVariables(): { name: string; nearest: string | undefined }[]
  /** The text of a settings file with these values set, by key; the rest of it stays as it is. Writes nothing. */
  edit(text: string, values: Readonly<Record<string, unknown>>): Promise<string>
  /** The tables and values of another tool's TOML text. Throws WT_016 with the line of the first mistake. */
  parseToml(text: string): Promise<Record<string, unknown>>
}

/** The methods that change the world: where a fault can strike. */
export const effects = {
  files: [
    'makeFolder',
    'makeNewFolder',
    'write',
    'writeDurable',
    'writeNew',
    'appendDurable',
    'writeDraft',
    'placeDrafts',
    'sync',
    'copy',
    'copyNew',
    'link',
    'rename',
    'move',
    'remove',
    'removeEmptyFolder',
  ],
  store: ['append'],
  repos: ['put'],
  notes: ['put'],
  vault: ['restore', 'seedWith'],
  contents: ['exportFile', 'keep'],
  checkouts: ['place', 'take', 'lockIndex', 'unlockIndex', 'changeIndex', 'placeIndex'],
  commands: ['run'],
} as const satisfies {
  files: (keyof Files)[]
  store: (keyof Store)[]
  repos: (keyof RepoRecords)[]
  notes: (keyof Notes)[]
  vault: (keyof Vault)[]
  contents: (keyof Contents)[]
  checkouts: (keyof Checkouts)[]
  commands: (keyof Commands)[]
}
