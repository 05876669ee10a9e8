import type { BytePath } from '../model/bytes.ts'
import type { Push } from '../model/git.ts'

import type { Repo } from '../model/repo.ts'
import type { Published, ReplayStep } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Leaf, LeafChange } from '../model/tree.ts'

/** Steps and landings as commits of the user's repository. */
export interface Publishing {
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
  makePushRepo(repo: Repo, task: Task): Promise<string>
  /** Sends a commit of the user's repository to another one, under the name of a branch. */
  push(repo: Repo, task: Task, push: Push, signal?: AbortSignal): Promise<void>
  /** The agent's own commits and what it did not commit, or else the steps: what a rebase replays. */
  readReplay(repo: Repo, task: Task, signal?: AbortSignal): Promise<ReplayStep[]>
  /** The id that each published step has in the user's repository. */
  readPublished(repo: Repo, task: Task): Promise<ReadonlyMap<number, string>>
}
