/** The index of the moment when a workspace was filled, kept fit to tell what has changed since. */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { OpenVault } from '../open.ts'
import { noteIndexed } from './indexed.ts'
import { refreshIndex } from './scan.ts'
import type { ScanScope } from './scan-scope.ts'
import { agedMark } from '../../core/model/layout.ts'

/** As long as the index is of the same second as the files, every look would have to read them all. */
export async function ageIndex(
  scope: ScanScope & OpenVault,
  readFirst: () => Promise<string>,
  signal?: AbortSignal,
): Promise<void> {
  const aged = agedMark(scope.index)
  if ((await scope.files.readKind(aged)) === 'file') return
  const found = await stat(scope.index).catch(() => undefined)
  // Without an index git would find every file new and none deleted; one that a power cut left empty it refuses.
  if (!found?.size) await remakeIndex(scope, await readFirst(), signal)
  else if (Date.now() - found.mtimeMs < 2_000) return
  if (await refreshIndex(scope.exec, scope, signal)) await scope.files.write(aged, '')
  else await clearOldLock(scope)
}

/** A git that was killed leaves its lock. All works without a refresh, only slower: there is time to be sure. */
async function clearOldLock({ files, index }: ScanScope & OpenVault): Promise<void> {
  const lock = await stat(`${index}.lock`).catch(() => undefined)
  if (lock && Date.now() - lock.mtimeMs > 60_000) await files.remove(`${index}.lock`)
}

/** Knows what there should be, and nothing of how it looks: every file is then read once. */
async function remakeIndex(scope: ScanScope & OpenVault, tree: string, signal?: AbortSignal): Promise<void> {
  const { exec, vault, alternates, index } = scope
  await scope.files.makeFolder(path.dirname(index), 0o700)
  await noteIndexed(scope.files, path.dirname(index), tree)
  const draft = `${index}.new`
  // Also the lock of a git that was killed here.
  for (const left of [draft, `${draft}.lock`]) await scope.files.remove(left)
  await exec({ args: ['read-tree', tree], gitDir: vault, alternates, indexFile: draft, cwd: vault, signal })
  await scope.files.rename(draft, index)
}
