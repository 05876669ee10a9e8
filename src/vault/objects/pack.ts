/** Packs objects into the vault. */
import path from 'node:path'
import type { OpenVault } from '../open.ts'

/** Writes all objects that these revisions reach, from the vault or its alternates, as one new pack of the vault. */
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
