/** The verb config import: takes the workspace set-up of other tools over as hooks. */
import path from 'node:path'
import { readHooks } from '../hooks/hooks.ts'
import { findPeerFiles, type HookSetting, hookSettings, type PeerFile, readPeerFile } from '../hooks/peers.ts'
import { AppError } from '../model/errors.ts'
import { settingsFile } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'
import { findRepo, settingsCheckout } from '../tasks/repo.ts'

export interface ImportInput {
  readonly dir: string
  /** The file to import; needed when several files differ. */
  readonly file?: string | undefined
  readonly dryRun?: boolean | undefined
}

export interface Imported {
  /** The imported values, by the key of the setting. */
  readonly settings: readonly HookSetting[]
  /** The settings file that was written. */
  readonly path: string
}

/** Writes the hooks into the repository's own settings. They run only once the user trusts them. */
export async function importPeers(ports: Ports, input: ImportInput): Promise<Imported> {
  const { place } = await findRepo(ports, input.dir)
  if (place.checkout === null)
    throw new AppError('notARepository', 'A bare repository has no settings of its own.', {
      hint: 'Repeat it in a checkout: git worktree list shows them.',
    })
  const checkout = await settingsCheckout(ports, place.checkout)
  const target = settingsFile(checkout)
  const settings = hookSettings(await readPeers(ports, checkout, input.file))
  const own = (await readHooks(ports, checkout)).filter(({ isForeign }) => isForeign)
  const fresh = settings.filter(({ key, value }) => isNew(own, key, value, target))
  if (input.dryRun || fresh.length === 0) return { settings: fresh, path: target }
  const kind = await ports.files.readKind(target)
  if (kind !== undefined && kind !== 'file')
    throw new AppError('badSettings', '.offshoot.yaml is no plain file, so it was not changed.', {
      path: target,
    })
  const values = Object.fromEntries(fresh.map(({ key, value }) => [key, value]))
  const text = await ports.settings.edit((await ports.files.readText(target)) ?? '', values)
  await ports.files.write(target, text)
  return { settings: fresh, path: target }
}

async function readPeers(
  ports: Pick<Ports, 'files' | 'settings'>,
  checkout: string,
  wanted: string | undefined,
): Promise<PeerFile[]> {
  const files = await findPeerFiles(ports, checkout)
  const meant = wanted === undefined ? files : files.filter((file) => file === path.posix.normalize(wanted))
  if (meant.length === 0) {
    throw new AppError(
      'notFound',
      wanted === undefined ? 'This repository has nothing to import.' : `${wanted} cannot be imported.`,
      {
        hint: `These can be imported: .cursor/worktrees.json, .codex/environments/*.toml, conductor.json${files.length > 0 ? `; this repository has ${files.join(', ')}` : ''}.`,
      },
    )
  }
  const read: PeerFile[] = []
  for (const file of meant) read.push(await readPeerFile(ports, checkout, file))
  return read
}

function isNew(
  own: Awaited<ReturnType<typeof readHooks>>,
  key: string,
  value: string,
  target: string,
): boolean {
  const there = own.find(({ hook }) => `hooks.${hook}` === key)
  if (!there) return true
  if (there.command === value) return false
  throw new AppError('wrongUsage', `${key} is already set to another command.`, {
    path: target,
    hint: 'Remove it from .offshoot.yaml first, or join both by hand.',
  })
}
