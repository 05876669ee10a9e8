/** The vault's part of a slot: index, config and tree of step 0 (docs/adr/0022-workspaces-made-ahead.md). */
import { createHash } from 'node:crypto'
import path from 'node:path'
import { allEnded } from '../../core/base/concurrency.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Task } from '../../core/model/task.ts'
import { agedMark, slotParts, taskFiles, taskFolder } from '../../core/model/layout.ts'
import { readTree } from '../objects/commit.ts'
import type { OpenVault } from '../open.ts'
import { keepConfig } from './kept-config.ts'
import { isPlain, seedTree } from './seed.ts'
import { judge } from './untouched.ts'

export async function prepareSlot(
  vault: OpenVault,
  repo: Repo,
  slot: string,
  commit: string,
  signal?: AbortSignal,
): Promise<void> {
  const { files } = vault
  const { git: gitDir, files: workTree, task: folder } = slotParts(slot)
  const index = path.join(folder, taskFiles.index)
  await files.makeFolder(folder, 0o700)
  await files.copy(path.join(gitDir, 'index'), index, 0o600)
  // The pool waited a second before it refreshed the index, so git trusts the stats in it and rereads no file.
  await files.write(agedMark(index), '', 0o600)
  await keepConfig(vault, repo, folder)
  const base = await readTree(vault, commit)
  const plain = await isPlain({ ...vault, gitDir })
  const tree = plain ? base : await seedTree(vault, workTree, base, index, signal)
  await vault.objects.sync()
  await files.write(path.join(folder, taskFiles.made), `${commit} ${tree}\n`, 0o600)
}

/** A start must not wait: for more files than this, only the first level is looked at. */
const maxLookedAt = 2_000

/** Whether some file of the slot, however deep, is not as it was made; false if that would take long to find out. */
export async function isTouched({ objects: { oidBytes } }: OpenVault, slot: string): Promise<boolean> {
  const { files, task } = slotParts(slot)
  const limits = { oidBytes, maxEntries: maxLookedAt }
  const judged = await judge(files, path.join(task, taskFiles.index), { seen: new Map() }, limits)
  return judged === 'touched'
}

export async function takeSlot({ files, vault }: OpenVault, task: Task, slot: string): Promise<void> {
  // It has the shape of a task's folder, which it becomes by one rename.
  await files.move(slotParts(slot).task, taskFolder(vault, task))
}

/** The tree of step 0, if the workspace came from a slot and still has that slot's base. */
export async function findMade({ files, vault }: OpenVault, task: Task): Promise<string | undefined> {
  const text = (await files.readText(path.join(taskFolder(vault, task), taskFiles.made))) ?? ''
  const [commit, tree] = text.trim().split(' ')
  return commit === task.base.commit ? tree : undefined
}

/**
 * A hash of every config, attribute and sparse file that decides how git writes files; undefined if some are unknown.
 */
export async function findConversions(
  vault: OpenVault,
  { place, commonDir }: Repo,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const configs = [
    ...vault.configs,
    path.join(commonDir, 'config'),
    path.join(place.gitDir, 'config.worktree'),
  ]
  const others = [
    ...vault.attributes,
    path.join(commonDir, 'info', 'attributes'),
    path.join(place.gitDir, 'info', 'sparse-checkout'),
  ]
  const read = (names: string[]) =>
    allEnded(names.map(async (name) => (await vault.files.readText(name)) ?? ''))
  const [settings, rules] = await allEnded([read(configs), read(others)])
  // A config names another attribute file, which may change without our noticing.
  if (settings.some((text) => /attributesfile/i.test(text))) return undefined
  const hash = createHash('sha256').update(JSON.stringify([commonDir, settings, rules]))
  if (settings.some((text) => /\binclude/i.test(text))) {
    const args = ['config', '--list', '-z']
    const asked = await vault.exec({ args, gitDir: place.gitDir, cwd: place.gitDir, config: 'user', signal })
    hash.update(asked.stdout)
  }
  return hash.digest('hex')
}
