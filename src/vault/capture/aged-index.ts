/** Keeps the index of a filled workspace usable, so that git can say which files have changed since. */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { OpenVault } from '../open.ts'
import { noteIndexed } from './indexed.ts'
import { refreshIndex } from './scan.ts'
import type { ScanScope } from './scan-scope.ts'
import { agedMark } from '../../core/model/layout.ts'

/** Refreshes a young index: git rereads every file whose time is of the same second as the index. */
export async function ageIndex(
  scope: ScanScope & OpenVault,
  readFirst: () => Promise<string>,
  signal?: AbortSignal,
): Promise<void> {
  const aged = agedMark(scope.index)
  if ((await scope.files.readKind(aged)) === 'file') return
  const found = await stat(scope.index).catch(() => undefined)
  // Without an index git calls every file new and none deleted; an index that a power cut left empty makes git fail.
  if (!found?.size) await remakeIndex(scope, await readFirst(), signal)
  else if (Date.now() - found.mtimeMs < 2_000) return
  if (await refreshIndex(scope.exec, scope, signal)) await scope.files.write(aged, '', 0o600)
  else await clearOldLock(scope)
}

/**
 * A killed git leaves its lock. Steps work without a refresh, only slower, so we wait until the lock is surely stale.
 */
async function clearOldLock({ files, index }: ScanScope & OpenVault): Promise<void> {
  const lock = await stat(`${index}.lock`).catch(() => undefined)
  if (lock && Date.now() - lock.mtimeMs > 60_000) await files.remove(`${index}.lock`)
}

/** Makes an index that lists the files of `tree` without their stats: git then reads every file once. */
async function remakeIndex(scope: ScanScope & OpenVault, tree: string, signal?: AbortSignal): Promise<void> {
  const { exec, vault, alternates, index } = scope
  await scope.files.makeFolder(path.dirname(index), 0o700)
  await noteIndexed(scope.files, path.dirname(index), tree)
  const draft = `${index}.new`
  // A git that was killed here may have left its lock, too.
  for (const left of [draft, `${draft}.lock`]) await scope.files.remove(left)
  await exec({ args: ['read-tree', tree], gitDir: vault, alternates, indexFile: draft, cwd: vault, signal })
  await scope.files.rename(draft, index)
}
