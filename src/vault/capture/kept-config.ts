/**
 * The repository's config and attributes as they were at the start of a task
 * (docs/adr/0010-conversions-as-of-the-start.md).
 */
import path from 'node:path'
import type { Repo } from '../../core/model/repo.ts'
import { taskFiles } from '../../core/model/layout.ts'
import type { OpenVault } from '../open.ts'

/** Keeps a copy of the repository's config and attributes before an agent can change them. */
export async function keepConfig({ files }: OpenVault, repo: Repo, folder: string): Promise<void> {
  if ((await files.readKind(path.join(folder, taskFiles.config))) === 'file') return
  const both = [
    ['info/attributes', taskFiles.attributes],
    ['config', taskFiles.config],
  ] as const
  for (const [name, own] of both) {
    const text = (await files.readText(path.join(repo.commonDir, name))) ?? ''
    const kept = path.join(folder, own)
    // Nobody could restore the user's conversions later, so they are synced. A text without any need not be.
    if (name === 'config' ? isConverting(text) : text !== '') {
      await files.writeDurable(kept, Buffer.from(text), 0o600)
      await files.sync([folder])
    } else await files.write(kept, text, 0o600)
  }
}

/** Whether a config may set a conversion. */
export function isConverting(config: string): boolean {
  return /autocrlf|eol|filter/i.test(config)
}
