import type { BytePath } from '../model/bytes.ts'
import type { Push } from '../model/git.ts'
import type { Gone } from '../model/operation.ts'
import type { Repo, RepoRecord } from '../model/repo.ts'
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
} from '../model/step.ts'
import type { Task } from '../model/task.ts'
import type { Leaf, LeafChange } from '../model/tree.ts'

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
