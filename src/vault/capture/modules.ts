/** Submodules of a workspace, read as plain files: we never run git in a folder that an agent writes. */
import path from 'node:path'
import { type BytePath, toText } from '../../core/model/bytes.ts'
import type { FileSystem } from '../../core/ports/files.ts'
import { readOwnHead, readPlain } from '../../git/own.ts'

/** The commit that the repository in `folder` has checked out; undefined without a repository or a readable HEAD. */
export async function findModuleHead(
  files: FileSystem,
  workspace: string,
  folder: BytePath,
): Promise<string | undefined> {
  const at = path.join(workspace, toText(folder))
  const own = path.join(at, '.git')
  const kind = await files.readKind(own)
  if (kind === 'folder') return readOwnHead(files, { commonDir: own, gitDir: own, checkout: at })
  const led = kind === 'file' ? await readPlain(files, at, '.git') : undefined
  const named = /^gitdir: (.+?)\n?$/.exec(led ?? '')?.[1]
  if (named === undefined) return undefined
  const gitDir = path.resolve(at, named)
  return readOwnHead(files, { commonDir: gitDir, gitDir, checkout: at })
}

/** The folders that the text of a `.gitmodules` names. */
export function moduleFolders(text: string): BytePath[] {
  const lines = text.matchAll(/^[ \t]*path[ \t]*=[ \t]*"?(.+?)"?[ \t]*$/gm)
  return Array.from(lines, ([, folder = '']) => folder)
}
