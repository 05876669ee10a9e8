/** Step 0 of a task: the workspace as it was made; implemented by src/vault (docs/adr/0008-vault-adopts-the-base.md). */
import type { BytePath } from '../model/bytes.ts'

import type { Repo } from '../model/repo.ts'
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Leaf } from '../model/tree.ts'

/**
 * Which part of step 0 comes before the steps: what the user gave, or all of it. The branch never has what `postStart`
 * wrote; a replay of the steps needs it to merge by.
 */
export type StartPart = 'given' | 'all'

/** Keeps a fresh workspace before the agent may touch it. */
export interface Seeding {
  /** Records the stat of each file of a fresh workspace and the repository's config, which the agent may change later. */
  prepare(repo: Repo, task: Task): Promise<void>
  /** Does the same ahead of need for a slot with the files of a commit, and makes the tree of step 0. */
  prepareSlot(repo: Repo, slot: string, commit: string, signal?: AbortSignal): Promise<void>
  /** Whether a file of the slot is not as it was made. For a slot of many files, answers false without looking. */
  isTouched(repo: Repo, slot: string): Promise<boolean>
  /** Gives the preparations of a slot to the task. */
  takeSlot(repo: Repo, task: Task, slot: string): Promise<void>
  /** A fingerprint of all settings that decide how a checkout writes files; undefined when it cannot be computed. */
  findConversions(repo: Repo, signal?: AbortSignal): Promise<string | undefined>
  /** Whether the workspace surely holds the bytes of its base commit. Quick, and may answer false for a plain one. */
  isPlain(repo: Repo, task: Task): Promise<boolean>
  /** Makes step 0, unless it exists. The workspace must still be as it was made. */
  seed(repo: Repo, task: Task, signal?: AbortSignal): Promise<Step>
  /** Writes changes of the user into the workspace, and makes step 0 with them. */
  seedWith(
    repo: Repo,
    task: Task,
    changes: ReadonlyMap<BytePath, Leaf | null>,
    signal?: AbortSignal,
  ): Promise<Step>
  /** Makes step 0 anew with what `postStart` wrote, unless there is a later step; answers whether it wrote anything. */
  seedSetup(repo: Repo, task: Task, signal?: AbortSignal): Promise<boolean>
  /** The tree of step 0 as git stores it: the base commit, with that part of the changes on top. */
  readStart(repo: Repo, task: Task, part: StartPart, signal?: AbortSignal): Promise<string>
  /** Copies the objects of step 0 into the vault, so that the steps survive a `git gc` in the user's repository. */
  adopt(repo: Repo, task: Task, signal?: AbortSignal): Promise<void>
  /** Records the files anew, after the workspace was made again as it was at the start. */
  reseed(repo: Repo, task: Task): Promise<void>
}
