/**
 * The vault as a whole: its size, its health, and the tasks it knows when the records are lost
 * (docs/adr/0019-records-from-the-vault.md); implemented by src/vault.
 */
import type { Gone } from '../model/operation.ts'
import type { Repo, RepoRecord } from '../model/repo.ts'
import type { VaultLook } from '../model/step.ts'
import type { Task } from '../model/task.ts'

/** For prune, doctor and repair, and for rebuilding lost records. */
export interface VaultCare {
  /** The bytes that the vault takes on the disk. */
  readUsage(repo: Repo): Promise<number>
  /** Deletes the steps and operations of expired tasks, and packs the rest. */
  compact(repo: Repo, gone: Gone, signal?: AbortSignal): Promise<void>
  /** Every vault in the state folder, with the record of its repository, if it has one, or why it cannot be read. */
  readVaults(): Promise<{ name: string; repo?: RepoRecord | undefined; why?: string }[]>
  /** The uids of the tasks with steps in the vault of that name. */
  readUids(name: string): Promise<string[]>
  /** The ids of these tasks, by uid, as far as the vault knows them. Changes nothing. */
  readIds(
    repo: RepoRecord,
    uids: readonly string[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, string>>
  /** The record of the task as of its start. */
  findRecord(repo: Repo, uid: string): Promise<Task | undefined>
  /** Checks the vault and changes nothing; with `deep`, also that every object of the steps is there. */
  inspect(repo: Repo, deep: boolean, signal?: AbortSignal): Promise<VaultLook>
  /** Writes the config and the files of the vault's git folder anew; objects and refs stay. */
  remake(repo: Repo): Promise<void>
}
