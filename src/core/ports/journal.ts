import type { Kept, KeptOperation } from '../model/operation.ts'
import type { Repo } from '../model/repo.ts'

/** The operations that the vault keeps: written before the first effect, noted when they came to pass. */
export interface Journal {
  /** Keeps records and the trees they speak of, durably, each under its name. */
  keep(repo: Repo, kept: readonly Kept[]): Promise<void>
  findKept(repo: Repo, name: string): Promise<{ record: unknown; trees: Record<string, string> } | undefined>
  /** Notes, durably, that what is kept under these names has come to pass. */
  noteDone(repo: Repo, done: readonly { readonly name: string; readonly note: object }[]): Promise<void>
  readKept(repo: Repo): Promise<KeptOperation[]>
}
