import type { Submodules } from '../model/git.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { OtherFolder } from '../model/git.ts'
import type { OnProgress } from '../model/progress.ts'

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

/** The two ways to make a workspace beside the user's checkout, and the parts of it that no checkout fills. */
export interface Isolations {
  readonly worktree: IsolationKind
  readonly clone: IsolationKind
  /** Checks out, in a fresh workspace, the submodules of a commit that the user's repository has; reaches no other machine. */
  fillSubmodules(repo: Repo, task: Task, commit: string, signal?: AbortSignal): Promise<Submodules>
  /** Files of the workspace that are only a pointer to their content in Git LFS. */
  findPointers(repo: Repo, task: Task, signal?: AbortSignal): Promise<string[]>
}
