import type { BytePath } from '../model/bytes.ts'

import type { Repo } from '../model/repo.ts'
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Leaf } from '../model/tree.ts'

/** Step 0: the workspace as it was made, kept before the agent may touch it. */
export interface Seeding {
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
}
