/** All ports of the vault as one; implemented by src/vault (docs/adr/0006-vault-is-a-repository-of-its-own.md). */
import type { Contents } from './contents.ts'
import type { Indexes } from './indexes.ts'
import type { Journal } from './journal.ts'
import type { Publishing } from './publishing.ts'
import type { Seeding } from './seeding.ts'
import type { Steps } from './steps.ts'
import type { Trials } from './trials.ts'
import type { VaultCare } from './vault-care.ts'

/** One vault adapter; compose hands its parts out as separate ports. */
export interface Vault extends Seeding, Steps, Publishing, VaultCare, Contents, Indexes, Journal, Trials {
  /** Ends the git processes that the vault keeps open. */
  close(): void
}
