import path from 'node:path'
import type { OpenVault } from '../open.ts'

/** What these revisions lead to, whoever has it, as one more pack of the vault's own. */
export async function packInto(
  vault: OpenVault,
  revisions: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const packs = path.join(vault.vault, 'objects', 'pack')
  await vault.exec({
    args: ['pack-objects', '--revs', '--non-empty', '-q', path.join(packs, 'pack')],
    stdin: [...revisions, ''].join('\n'),
    gitDir: vault.vault,
    alternates: vault.alternates,
    cwd: vault.vault,
    durable: true,
    signal,
  })
  await vault.files.sync([packs])
}
