/** The operations that the vault keeps; implemented by src/vault (docs/adr/0015-operations-staged-then-finished.md). */
import type { Kept, KeptOperation } from '../model/operation.ts'
import type { Repo } from '../model/repo.ts'

/** Each operation is written before its first effect, and noted once it is complete. */
export interface Journal {
  /** Stores records, each under its name, with the trees that they refer to; durable when it returns. */
  keep(repo: Repo, kept: readonly Kept[]): Promise<void>
  /** The record of that name. */
  findKept(repo: Repo, name: string): Promise<{ record: unknown; trees: Record<string, string> } | undefined>
  /** Notes that the operations of these names are complete; durable when it returns. */
  noteDone(repo: Repo, done: readonly { readonly name: string; readonly note: object }[]): Promise<void>
  /** All operations that the vault has. */
  readKept(repo: Repo): Promise<KeptOperation[]>
}
