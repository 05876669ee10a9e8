/**
 * Linked worktrees, registered by writing the files that git keeps for them: the registration appears by one
 * rename, whereas `git worktree add` makes it piece by piece and a kill leaves it locked and half there.
 */
import path from 'node:path'
import type { Files, Place, Worktree } from '../core/ports.ts'
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
  const registered = path.join(place.commonDir, 'worktrees', path.basename(folder))
  await files.makeNewFolder(folder)
  await files.write(path.join(folder, '.git'), pointerTo(registered))
  await writeRegistration(files, place, folder, branch, mark)
}

function pointerTo(registered: string): string {
  return `gitdir: ${registered}\n`
}

async function writeRegistration(files: Files, place: Place, folder: string, branch: string, mark: object) {
  const name = path.basename(folder)
  const registered = path.join(place.commonDir, 'worktrees', name)
  const staged = stagingFolder(place, name)
  if ((await files.readKind(staged)) === 'folder') await files.remove(staged)
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
  commit: string,
  signal?: AbortSignal,
): Promise<void> {
  await exec({ args: ['read-tree', '--reset', '-u', commit], ...scopeOf(place, folder), signal })
}

export async function readIndexFromHead(exec: GitExec, place: Place, folder: string, signal?: AbortSignal) {
  await exec({ args: ['read-tree', '--reset', 'HEAD'], ...scopeOf(place, folder), signal })
}

export async function mendWorktree(
  exec: GitExec,
  files: Files,
  place: Place,
  folder: string,
  branch: string,
  mark: object,
  aside: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const dotGit = path.join(folder, '.git')
  const registered = path.join(place.commonDir, 'worktrees', path.basename(folder))
  const pointed =
    (await files.readKind(dotGit)) === 'file' && (await files.readText(dotGit)) === pointerTo(registered)
  const known = (await files.readText(path.join(registered, 'gitdir')))?.trimEnd() === dotGit
  if (!pointed) {
    if ((await files.readKind(dotGit)) !== undefined) {
      await files.makeFolder(path.dirname(aside), 0o700)
      await files.rename(dotGit, aside)
    }
    await files.write(dotGit, pointerTo(registered))
  }
  if (!known) {
    if ((await files.readKind(registered)) !== undefined)
      await files.move(registered, `${aside}.registration`)
    await writeRegistration(files, place, folder, branch, mark)
    await readIndexFromHead(exec, place, folder, signal)
  }
  return !pointed || !known
}
