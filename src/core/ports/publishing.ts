/** Steps and landings as commits of the user's repository; implemented by src/vault (docs/adr/0009-publish-by-pack.md). */
import type { BytePath } from '../model/bytes.ts'
import type { Push } from '../model/git.ts'

import type { Repo } from '../model/repo.ts'
import type { OwnCommits, Published, ReplayStep } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Leaf, LeafChange } from '../model/tree.ts'

/** Writes commits into the user's repository, and reads trees from it. */
export interface Publishing {
  /** Writes the steps as commits into the user's repository, and moves the task's branch to the last one. */
  publish(repo: Repo, task: Task, signal?: AbortSignal): Promise<Published>
  /** The tree of a commit of the user's repository. */
  readTree(repo: Repo, commit: string): Promise<string>
  /** Converts the changed files as `git add` would, with the user's line ends and filters. */
  clean(
    repo: Repo,
    task: Task,
    changes: ReadonlyMap<BytePath, LeafChange>,
    signal?: AbortSignal,
  ): Promise<Map<BytePath, Leaf | null>>
  /** Converts one file as `git checkout` would, and answers the leaf with the bytes for the folder. */
  smudge(repo: Repo, task: Task, checkout: string, file: BytePath, leaf: Leaf): Promise<Leaf>
  /** Makes a commit in the user's repository, with their name and signature, and answers its id. */
  commit(
    repo: Repo,
    task: Task,
    parts: { tree: string; parents: readonly string[]; message: string },
    signal?: AbortSignal,
  ): Promise<string>
  /** The push address of a remote: in the config at the start of the task, and in the config now. */
  findRemote(
    repo: Repo,
    task: Task,
    remote: string,
  ): Promise<{ before: string | undefined; now: string | undefined }>
  /** Makes a git folder with the repository's config as of the start, to push from, and answers its path. */
  makePushRepo(repo: Repo, task: Task): Promise<string>
  /** Pushes a commit of the user's repository to a branch of another one. */
  push(repo: Repo, task: Task, push: Push, signal?: AbortSignal): Promise<void>
  /** The commits for a rebase: the agent's own and its uncommitted rest, or else the steps. */
  readReplay(repo: Repo, task: Task, signal?: AbortSignal): Promise<ReplayStep[]>
  /** The commits that the agent made itself, beyond the base; looks at them as git does before it takes a push. */
  readOwnCommits(repo: Repo, task: Task, signal?: AbortSignal): Promise<OwnCommits>
  /** The commit id that each published step has in the user's repository, by the number of the step. */
  readPublished(repo: Repo, task: Task): Promise<ReadonlyMap<number, string>>
}
