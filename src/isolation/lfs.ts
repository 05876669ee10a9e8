/** Finds files that Git LFS left as pointers, because the user's LFS filter is missing. */
import path from 'node:path'
import type { Repo } from '../core/model/repo.ts'
import type { Task } from '../core/model/task.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { GitExec } from '../git/exec.ts'
import { workspaceScope } from '../git/workspace-place.ts'

const magic = 'version https://git-lfs.github.com/spec/'

/** The size that no LFS pointer exceeds. */
const longest = 1024

export async function findPointers(
  exec: GitExec,
  files: FileSystem,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<string[]> {
  const rules = path.join(task.path, '.gitattributes')
  // Git follows no link there.
  const attributes = (await files.readKind(rules)) === 'file' ? await files.readText(rules) : ''
  if (!attributes?.includes('filter=lfs')) return []
  const scope = { ...workspaceScope(repo, task), signal }
  const listed = await exec({ args: ['ls-files', '-z', '--cached'], ...scope })
  const asked = await exec({
    args: ['check-attr', '-z', '--stdin', 'filter'],
    stdin: listed.stdout,
    ...scope,
  })
  const fields = asked.stdout.toString().split('\0')
  const found: string[] = []
  for (let n = 0; n + 2 < fields.length; n += 3) {
    const name = fields[n] ?? ''
    if (fields[n + 2] === 'lfs' && (await isPointer(files, path.join(task.path, name)))) found.push(name)
  }
  return found
}

async function isPointer(files: FileSystem, file: string): Promise<boolean> {
  if ((await files.readKind(file)) !== 'file' || (await files.readUsage(file)) > 64 * longest) return false
  const text = (await files.readText(file)) ?? ''
  return text.length <= longest && text.startsWith(magic)
}
