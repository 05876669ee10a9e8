/** Brings objects of the vault into the user's repository (docs/adr/0009-publish-by-pack.md). */
import path from 'node:path'
import type { Repo } from '../../core/model/repo.ts'
import { scratchIn } from '../../core/model/layout.ts'
import { frugal } from '../../git/frugal.ts'
import type { OpenVault } from '../open.ts'

/** Packs the objects that the user's repository lacks; `index-pack --strict` checks them there before they count. */
export async function transfer(
  vault: OpenVault,
  repo: Repo,
  tip: string,
  known: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const base = scratchIn(vault.vault, 'pack')
  const has = Array.from(new Set(known), (commit) => `^${commit}\n`)
  const { stdout } = await vault.exec({
    args: ['pack-objects', '--revs', '-q', base],
    // Searching big files for deltas takes much time and memory; the user's own gc does it later.
    settings: [['core.bigFileThreshold', '1m']],
    stdin: `${tip}\n${has.join('')}`,
    gitDir: vault.vault,
    alternates: vault.alternates,
    cwd: vault.vault,
    signal,
  })
  const packed = `${base}-${stdout.toString().trim()}`
  try {
    await vault.exec({
      args: ['index-pack', '--stdin', '--strict', '--fix-thin'],
      stdinFile: `${packed}.pack`,
      gitDir: repo.commonDir,
      cwd: repo.commonDir,
      durable: true,
      settings: frugal,
      signal,
    })
    // Git syncs the pack and not its name: a ref must never be on the disk before the objects that it names.
    await vault.files.sync([path.join(repo.commonDir, 'objects', 'pack')])
  } finally {
    for (const end of ['pack', 'idx', 'rev']) await vault.files.remove(`${packed}.${end}`)
  }
}
