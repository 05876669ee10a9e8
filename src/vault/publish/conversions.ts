/**
 * The settings that convert files, and a git folder in which they work. They come from the system's and the user's
 * config, and from the repository's config as it was at the start: a command that an agent writes into that config
 * later must not run (docs/adr/0010-conversions-as-of-the-start.md).
 */
import { symlink } from 'node:fs/promises'
import path from 'node:path'
import type { Task } from '../../core/model/task.ts'
import { nowhereHead } from '../../core/model/refs.ts'
import { cleanFolder, taskFiles, taskFolder } from '../../core/model/layout.ts'
import { isConverting } from '../capture/kept-config.ts'
import type { OpenVault } from '../open.ts'

/** The repository's own settings that convert, as pairs of key and value. */
type Settings = [key: string, value: string][]

const converting = '^(core\\.(autocrlf|eol)|filter\\..*)$'

/** The repository's own conversions as they were at the start. Included files are not read. */
export async function conversionsOf(
  { exec, files, vault }: OpenVault,
  task: Task,
  signal?: AbortSignal,
): Promise<Settings> {
  const config = path.join(taskFolder(vault, task), taskFiles.config)
  if (!isConverting((await files.readText(config)) ?? '')) return []
  const args = ['config', '-z', '--file', config, '--no-includes', '--get-regexp', converting]
  const { stdout } = await exec({ args, gitDir: vault, cwd: vault, expect: [1], signal })
  return stdout
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const end = entry.indexOf('\n')
      return end === -1 ? [entry, 'true'] : [entry.slice(0, end), entry.slice(end + 1)]
    })
}

/** A git folder without the vault's own switches, so that conversions work in it; a task's are those of its start. */
export async function makeCleanRepo(vault: OpenVault, task?: Task): Promise<string> {
  const { files } = vault
  const scratch = task ? path.join(taskFolder(vault.vault, task), taskFiles.clean) : cleanFolder(vault.vault)
  // After a power cut any of these files may be empty.
  const has = async (name: string) => Boolean(await files.readText(path.join(scratch, name)))
  const attributes =
    task && (await files.readText(path.join(taskFolder(vault.vault, task), taskFiles.attributes)))
  if ((await has('HEAD')) && (await has('config')) && (!attributes || (await has('info/attributes'))))
    return scratch
  for (const folder of ['objects', 'refs', 'info']) await files.makeFolder(path.join(scratch, folder), 0o700)
  await files.copy(path.join(vault.vault, 'config'), path.join(scratch, 'config'))
  if (attributes) await files.write(path.join(scratch, 'info', 'attributes'), attributes)
  // Filters keep keys and contents in these folders: they must find those of the user's repository.
  for (const name of ['lfs', 'git-crypt']) {
    if ((await files.readKind(path.join(vault.commonDir, name))) !== 'folder') continue
    await symlink(path.join(vault.commonDir, name), path.join(scratch, name)).catch(() => {})
  }
  await files.write(path.join(scratch, 'HEAD'), nowhereHead, 0o600)
  return scratch
}
