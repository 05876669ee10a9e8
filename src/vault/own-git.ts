/**
 * The git folder of a workspace, read and written as files. Git itself is never run in a folder that an agent writes:
 * its config could make git run commands, and a link in the place of a file or folder would lead our writes elsewhere.
 */
import path from 'node:path'
import type { Files, Place, Repo } from '../core/ports.ts'
import type { Task } from '../core/task.ts'
import { workspacePlace } from '../git/isolation.ts'
import type { OpenVault } from './index.ts'

const object = /^([0-9a-f]{40}|[0-9a-f]{64})\s*$/

/** The value of a ref; undefined when there is none, or nothing that can be read. */
export async function readOwnRef(
  files: Files,
  { commonDir }: Place,
  ref: string,
): Promise<string | undefined> {
  if (!(await isReal(files, commonDir, ref))) return undefined
  const loose = await readQuietly(files, path.join(commonDir, ref))
  if (loose !== undefined) return object.exec(loose)?.[1]
  const packed = (await readQuietly(files, path.join(commonDir, 'packed-refs'))) ?? ''
  const line = packed.split('\n').find((candidate) => candidate.endsWith(` ${ref}`))
  return line && object.exec(line.slice(0, -ref.length))?.[1]
}

/** The commit that the workspace is on; undefined when its git is broken. */
export async function readOwnHead(files: Files, place: Place): Promise<string | undefined> {
  if (!(await isReal(files, place.gitDir, 'HEAD'))) return undefined
  const head = (await readQuietly(files, path.join(place.gitDir, 'HEAD'))) ?? ''
  const ref = /^ref: (refs\/[^\n]+)\n?$/.exec(head)?.[1]
  if (ref === undefined) return object.exec(head)?.[1]
  return ref.includes('..') ? undefined : readOwnRef(files, place, ref)
}

/** Does nothing where the git folder is not as we made it: that is for `repair`. */
export async function writeOwnRef(
  files: Files,
  { commonDir }: Place,
  ref: string,
  value: string,
): Promise<void> {
  const file = path.join(commonDir, ref)
  if (!(await isReal(files, commonDir, ref))) return
  const [there, lock] = [await files.readKind(file), await files.readKind(`${file}.lock`)]
  if (lock !== undefined || there === 'folder') return
  await files.makeFolder(path.dirname(file))
  await files.write(file, `${value}\n`)
}

/** Makes the workspace's index that of a commit. What it knows about the looks of files stays. */
export async function writeOwnIndex(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  commit: string,
  signal?: AbortSignal,
): Promise<void> {
  const { files } = vault
  const { gitDir } = workspacePlace(repo, task)
  const index = path.join(gitDir, 'index')
  if (!(await isReal(files, gitDir, 'index'))) return
  if ((await files.readKind(index)) === 'folder' || (await files.readKind(`${index}.lock`)) !== undefined)
    return
  const draft = path.join(vault.vault, 'scratch', `index-${task.uid}`)
  const read = (expect: readonly number[]) =>
    vault.exec({
      args: ['read-tree', '--reset', '-i', commit],
      gitDir: vault.vault,
      indexFile: draft,
      alternates: vault.alternates,
      cwd: vault.vault,
      durable: true,
      expect,
      signal,
    })
  await files.remove(draft)
  const usable = (await files.readKind(index)) === 'file'
  if (usable) await files.copy(index, draft)
  // One that is damaged, or split into several files, is made from nothing.
  if (!usable || (await read([128])).code !== 0) {
    await files.remove(draft)
    await read([])
  }
  await files.move(draft, index)
  await files.syncFolders([gitDir])
}

/** Whether all that leads to the file, from the git folder on, are folders and no links; they may be missing. */
async function isReal(files: Files, gitDir: string, name: string): Promise<boolean> {
  if ((await files.readKind(gitDir)) !== 'folder') return false
  const parts = name.split('/')
  for (let count = 1; count < parts.length; count++) {
    const kind = await files.readKind(path.join(gitDir, ...parts.slice(0, count)))
    if (kind !== undefined && kind !== 'folder') return false
  }
  return true
}

/** A link, or a file that may not be read, counts as none. */
function readQuietly(files: Files, file: string): Promise<string | undefined> {
  return files.readText(file).catch(() => undefined)
}
