import type { BytePath } from '../model/bytes.ts'

import type { Repo } from '../model/repo.ts'
import type { DiffOptions, DiffStat, Snapshot, Step, StepFile, StepNote } from '../model/step.ts'
import type { Task } from '../model/task.ts'

/** The steps of a task: taken, read, compared and restored. */
export interface Steps {
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
  /** What the rules ignore, folders as a whole. */
  readIgnored(repo: Repo, task: Task, signal?: AbortSignal): Promise<string[]>
  readStat(repo: Repo, from: Step, to: Step, signal?: AbortSignal): Promise<DiffStat>
  readDiff(repo: Repo, from: Step, to: Step, options: DiffOptions, signal?: AbortSignal): Promise<Buffer>
  /** Makes the files of the workspace those of `to`, knowing that they are those of `from` now; null: it is empty. */
  restore(repo: Repo, task: Task, from: Step | null, to: Step, signal?: AbortSignal): Promise<void>
  /** Makes that step, or without one step 0, the last one of a task whose ref is lost; false when it is not there. */
  mendTip(repo: Repo, task: Task, commit: string | undefined): Promise<boolean>
}
