import type { Gone } from '../model/operation.ts'
import type { Repo, RepoRecord } from '../model/repo.ts'
import type { VaultLook } from '../model/step.ts'
import type { Task } from '../model/task.ts'

/** The vault as a whole: its size, its health, and what it knows when the records are lost. */
export interface VaultCare {
  /** How many bytes it takes on the disk. */
  readUsage(repo: Repo): Promise<number>
  /** Lets go of what nobody can bring back any more, and packs the rest. */
  compact(repo: Repo, gone: Gone, signal?: AbortSignal): Promise<void>
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
}
