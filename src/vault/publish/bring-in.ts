/**
 * Brings commits of the agent's own into the vault, checked as git checks a push: in a worktree they are in the user's
 * repository before anybody has looked at them (docs/adr/0039-landing-tells.md).
 */
import { AppError } from '../../core/model/errors.ts'
import { scratchIn } from '../../core/model/layout.ts'
import type { OpenVault } from '../open.ts'

/**
 * Packs the commits that `head` has beyond `known` into the vault, unless an object is missing or `git fsck` would refuse
 * one: then the answer is false. The vault keeps them if the user's repository loses them.
 */
export async function bringIn(
  vault: OpenVault,
  head: string,
  known: readonly string[],
  signal?: AbortSignal,
): Promise<boolean> {
  const base = scratchIn(vault.vault, 'own')
  const scope = { gitDir: vault.vault, alternates: vault.alternates, cwd: vault.vault, signal }
  const packed = await vault.exec({
    args: ['pack-objects', '--revs', '--non-empty', '-q', base],
    // Searching big files for deltas takes much time and memory.
    settings: [['core.bigFileThreshold', '1m']],
    stdin: [head, ...known.map((commit) => `^${commit}`), ''].join('\n'),
    expect: [128],
    ...scope,
  })
  if (packed.code !== 0) return isNotFull(packed.stderr)
  const name = packed.stdout.toString().trim()
  if (name === '') return true
  const pack = `${base}-${name}`
  try {
    const stored = await vault.exec({
      args: ['index-pack', '--stdin', '--strict'],
      stdinFile: `${pack}.pack`,
      durable: true,
      expect: [1, 128],
      ...scope,
    })
    return stored.code === 0 || isNotFull(stored.stderr)
  } finally {
    for (const end of ['pack', 'idx', 'rev']) await vault.files.remove(`${pack}.${end}`)
  }
}

/** False, for a git that refused the objects; throws for one that had no space. */
function isNotFull(stderr: string): false {
  if (!/No space left on device|Disk quota exceeded|unable to write/.test(stderr)) return false
  throw new AppError('diskFull', `The agent's own commits could not be stored: ${stderr.trim()}`)
}
