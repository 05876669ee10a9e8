/** All ports of the vault together, as its adapter has them. */
import type { Contents } from './contents.ts'
import type { Indexes } from './indexes.ts'
import type { Journal } from './journal.ts'
import type { Publishing } from './publishing.ts'
import type { Seeding } from './seeding.ts'
import type { Steps } from './steps.ts'
import type { VaultCare } from './vault-care.ts'

export interface Vault extends Seeding, Steps, Publishing, VaultCare, Contents, Indexes, Journal {
  close(): void
}
