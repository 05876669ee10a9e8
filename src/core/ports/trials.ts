/** Landings that are only tried out; implemented by src/vault (docs/adr/0059-a-forecast-lands-in-a-scratch-folder.md). */
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Merged, MergeInput } from '../model/tree.ts'
import type { Contents } from './contents.ts'
import type { Publishing } from './publishing.ts'
import type { Steps } from './steps.ts'

export interface Trials {
  /**
   * Gives the work ports that read the vault and write to a scratch folder, and removes that folder when the work has ended.
   * Throws `stepsLost` when the vault is gone that has the steps of the task.
   */
  tryOut<T>(repo: Repo, task: Task, work: (trial: Trial) => Promise<T>): Promise<T>
}

/** The ports of one trial. They run one git at a time. */
export interface Trial {
  readonly contents: Contents
  readonly publishing: Pick<Publishing, 'clean' | 'readTree' | 'smudge'>
  readonly steps: Pick<Steps, 'findTip' | 'readSteps'>
  /** Merges as `contents.merge` does, all of them with one git; conflicts in a text have their lines. */
  mergeMany(repo: Repo, inputs: readonly MergeInput[], signal?: AbortSignal): Promise<Merged[]>
  /** Runs work that starts a git of its own, when no git of the trial runs. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** A folder for files of the trial. */
  readonly folder: string
}
