/**
 * Makes, checks and removes the folder of a task; implemented by src/isolation. How a worktree and a clone are made:
 * docs/adr/0005-worktrees-registered-by-rename.md, docs/adr/0011-clone-isolation-written-by-hand.md.
 */
import type { ModulePointer, Submodules } from '../model/git.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { OtherFolder } from '../model/git.ts'
import type { OnProgress } from '../model/progress.ts'

/** One way to give a task a folder and a git of its own: a linked worktree, or a clone. */
export interface IsolationKind {
  /** Makes the folder, its git on the task's branch, and the files of the base commit, with the user's conversions. */
  make(repo: Repo, task: Task, signal?: AbortSignal, onProgress?: OnProgress): Promise<void>
  /** Resets the index of the workspace to HEAD, and leaves the files alone. */
  resetIndex(repo: Repo, task: Task, signal?: AbortSignal): Promise<void>
  /** Resets the index and the files to HEAD. */
  checkOut(repo: Repo, task: Task, signal?: AbortSignal): Promise<void>
  /** Describes the damage of the workspace's git, such as a lost `.git`; undefined when it is fine. Changes nothing. */
  findFault(repo: Repo, task: Task, signal?: AbortSignal): Promise<string | undefined>
  /**
   * Repairs the workspace's git, and answers whether it was damaged. Whatever was in the place of `.git` is moved to
   * `aside`.
   */
  mend(repo: Repo, task: Task, aside: string, signal?: AbortSignal): Promise<boolean>
  /** The folder that uses the registration of this workspace, if it is another one; offshoot must not touch it then. */
  findOther(repo: Repo, task: Task): Promise<OtherFolder | undefined>
  /** Removes the registration that the workspace has in the user's repository, and keeps a copy in the folder `keep`. */
  detach(repo: Repo, task: Task, keep: string): Promise<void>
  /** Puts the copy of the registration back. */
  attach(repo: Repo, task: Task, kept: string): Promise<void>
}

/** Workspaces that are made ahead of need, each in a folder of its own (docs/adr/0022-workspaces-made-ahead.md). */
export interface Slots {
  /** Fills a new folder with the files of a commit, with the user's own conversions. */
  fill(repo: Repo, slot: string, commit: string, signal?: AbortSignal): Promise<void>
  /** A short text that differs once somebody has touched the slot. Its cost does not grow with the number of files. */
  readLook(slot: string): Promise<string>
  /** Updates the files to another commit, writing only those that differ; false when the slot has to be filled anew. */
  advance(repo: Repo, slot: string, from: string, to: string, signal?: AbortSignal): Promise<boolean>
  /** Renames the slot's files to the task's workspace, and its git to the registration. */
  handOver(repo: Repo, task: Task, slot: string): Promise<void>
}

/** The two kinds, and the parts of a workspace that `git checkout` leaves out. */
export interface Isolations {
  readonly worktree: IsolationKind
  readonly clone: IsolationKind
  /** Checks out the submodules that the user's repository has, into a fresh workspace. Never uses the network. */
  fillSubmodules(repo: Repo, task: Task, commit: string, signal?: AbortSignal): Promise<Submodules>
  /** Brings commits of submodules that only the workspace has to the user's copies; answers the pointers that would lead nowhere. */
  bringModules(
    repo: Repo,
    task: Task,
    pointers: readonly ModulePointer[],
    signal?: AbortSignal,
  ): Promise<{ readonly path: string; readonly why: string }[]>
  /** Files of the workspace that are still Git LFS pointers. */
  findPointers(repo: Repo, task: Task, signal?: AbortSignal): Promise<string[]>
}
