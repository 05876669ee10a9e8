/**
 * The steps of a task: taken, read, compared and restored; implemented by src/vault
 * (docs/adr/0007-objects-in-process-index-never-rewritten.md).
 */
import type { BytePath } from '../model/bytes.ts'
import type { Follow } from '../model/progress.ts'

import type { Repo } from '../model/repo.ts'
import type {
  CountedFile,
  DiffOptions,
  DiffStat,
  Present,
  Snapshot,
  Step,
  StepFile,
  StepNote,
  StepTree,
} from '../model/step.ts'
import type { Task } from '../model/task.ts'

/** Reads a workspace into the vault, and writes a step back into it. */
export interface Steps {
  /** The last step. */
  findTip(repo: Repo, task: Task): Promise<Step | undefined>
  /** Every step from 0 on. */
  readSteps(repo: Repo, task: Task): Promise<Step[]>
  /** The files that each step changed against the one before, in the order of their paths. */
  readFiles(repo: Repo, steps: readonly StepTree[], signal?: AbortSignal): Promise<StepFile[][]>
  /** Takes a step of the workspace as it is. `paths` names the files that may have changed; without it all are checked. */
  snapshot(
    repo: Repo,
    task: Task,
    note: StepNote,
    paths?: readonly string[],
    follow?: Follow,
  ): Promise<Snapshot>
  /** Excludes these paths of the workspace from every later step. */
  keepOut(repo: Repo, task: Task, paths: readonly BytePath[]): Promise<void>
  /** The workspace as it is now. Takes no step, and writes nothing but objects of the vault. */
  readPresent(repo: Repo, task: Task, signal?: AbortSignal): Promise<Present>
  /** The files of the workspace that neither the last step nor HEAD holds. */
  readDirt(repo: Repo, task: Task, signal?: AbortSignal): Promise<readonly StepFile[]>
  /** Whether the last step holds every file of a former workspace, except ignored ones. */
  isKept(repo: Repo, task: Task, folder: string, signal?: AbortSignal): Promise<boolean>
  /** The ignored files of the workspace; a folder that is ignored counts as one. */
  readIgnored(repo: Repo, task: Task, signal?: AbortSignal): Promise<string[]>
  /** The files that differ between two steps, with the number of lines of each, in the order of their paths. */
  readCounts(repo: Repo, from: StepTree, to: StepTree, signal?: AbortSignal): Promise<CountedFile[]>
  /** The number of files and lines that differ between two steps. */
  readStat(repo: Repo, from: StepTree, to: StepTree, signal?: AbortSignal): Promise<DiffStat>
  /** The output of `git diff` between two steps. */
  readDiff(
    repo: Repo,
    from: StepTree,
    to: StepTree,
    options: DiffOptions,
    signal?: AbortSignal,
  ): Promise<Buffer>
  /** Writes the files of `to` into a workspace that holds those of `from` now; null: it is empty. */
  restore(repo: Repo, task: Task, from: Step | null, to: Step, follow?: Follow): Promise<void>
  /** For a task whose ref is lost: makes that step the last one, or step 0 if none is given; false when it is not there. */
  mendTip(repo: Repo, task: Task, commit: string | undefined): Promise<boolean>
}
