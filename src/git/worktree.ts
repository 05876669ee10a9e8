/**
 * Linked worktrees, registered by writing the files that git keeps for them: the registration appears by one
 * rename, whereas `git worktree add` makes it piece by piece and a kill leaves it locked and half there.
 */
import path from 'node:path'
import type { Dirt, Files, Place, Worktree } from '../core/ports.ts'
import type { GitExec } from './exec.ts'

export async function readWorktrees(files: Files, place: Place): Promise<Worktree[]> {
  const main = path.basename(place.commonDir) === '.git' ? path.dirname(place.commonDir) : place.commonDir
  const found: Worktree[] = [{ name: null, path: main, branch: await branchIn(files, place.commonDir) }]
  for (const name of await files.readNames(path.join(place.commonDir, 'worktrees'))) {
    const gitDir = path.join(place.commonDir, 'worktrees', name)
    const pointer = await files.readText(path.join(gitDir, 'gitdir'))
    if (pointer === undefined) continue
    const dotGit = path.resolve(gitDir, pointer.trimEnd())
    found.push({ name, path: path.dirname(dotGit), branch: await branchIn(files, gitDir) })
  }
  return found
}

async function branchIn(files: Files, gitDir: string): Promise<string | null> {
  const head = (await files.readText(path.join(gitDir, 'HEAD'))) ?? ''
  return /^ref: refs\/heads\/(.+?)\n?$/.exec(head)?.[1] ?? null
}

export async function registerWorktree(
  files: Files,
  place: Place,
  folder: string,
  branch: string,
  mark: object,
): Promise<void> {
  const name = path.basename(folder)
  const registered = path.join(place.commonDir, 'worktrees', name)
  const staged = stagingFolder(place, name)
  await files.makeNewFolder(folder)
  await files.write(path.join(folder, '.git'), `gitdir: ${registered}\n`)
  await files.makeNewFolder(staged)
  await files.write(path.join(staged, 'HEAD'), `ref: refs/heads/${branch}\n`)
  await files.write(path.join(staged, 'commondir'), '../..\n')
  await files.write(path.join(staged, 'gitdir'), `${path.join(folder, '.git')}\n`)
  await files.write(path.join(staged, 'offshoot.json'), `${JSON.stringify(mark)}\n`)
  await inheritSparseness(files, place, staged)
  await files.makeFolder(path.dirname(registered))
  await files.rename(staged, registered)
}

/** A new worktree has the sparse cone of the checkout it was started in, as with git itself. */
async function inheritSparseness(files: Files, place: Place, staged: string): Promise<void> {
  for (const file of ['info/sparse-checkout', 'config.worktree']) {
    const text = await files.readText(path.join(place.gitDir, file))
    if (text === undefined) continue
    await files.makeFolder(path.dirname(path.join(staged, file)))
    await files.write(path.join(staged, file), file === 'config.worktree' ? withoutPlace(text) : text)
  }
}

/** `core.worktree` and `core.bare` say where the other checkout is; they must not be inherited. */
export function withoutPlace(config: string): string {
  return config.replace(/^[ \t]*(worktree|bare)[ \t]*(=.*)?(\r?\n|$)/gim, '')
}

function stagingFolder(place: Place, name: string): string {
  return path.join(place.commonDir, `offshoot-${name}.tmp`)
}

export async function unregisterWorktree(
  files: Files,
  place: Place,
  name: string,
  keep: string,
): Promise<void> {
  const registered = path.join(place.commonDir, 'worktrees', name)
  const staged = stagingFolder(place, name)
  if ((await files.readKind(staged)) === 'folder') await files.remove(staged)
  if ((await files.readKind(registered)) !== 'folder') return
  await files.makeFolder(path.dirname(keep), 0o700)
  await files.move(registered, keep)
  await files.removeEmptyFolder(path.dirname(registered))
}

/** Names the repository outright: the `.git` file in the folder is the agent's to change. */
function scopeOf(place: Place, folder: string) {
  const gitDir = path.join(place.commonDir, 'worktrees', path.basename(folder))
  return { gitDir, workTree: folder, cwd: folder, config: 'user' } as const
}

export async function fillWorktree(
  exec: GitExec,
  place: Place,
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  await exec({ args: ['read-tree', '--reset', '-u', 'HEAD'], ...scopeOf(place, folder), signal })
}

export async function readDirt(
  exec: GitExec,
  place: Place,
  folder: string,
  signal?: AbortSignal,
): Promise<Dirt> {
  const args = [
    'status',
    '--porcelain=v2',
    '-z',
    '--no-renames',
    '--untracked-files=all',
    '--ignored=matching',
  ]
  const { stdout } = await exec({ args, ...scopeOf(place, folder), signal })
  return parseStatus(stdout.toString())
}

export function parseStatus(text: string): Dirt {
  const changed: string[] = []
  const untracked: string[] = []
  const ignored: string[] = []
  for (const line of text.split('\0')) {
    if (line.startsWith('? ')) untracked.push(line.slice(2))
    else if (line.startsWith('! ')) ignored.push(line.slice(2))
    else if (line.startsWith('1 ')) changed.push(line.split(' ').slice(8).join(' '))
    else if (line.startsWith('u ')) changed.push(line.split(' ').slice(10).join(' '))
  }
  return { changed, untracked, ignored }
}
