/**
 * Linked worktrees. We write git's files for them and register them by one rename: `git worktree add` makes them piece
 * by piece, and a kill leaves a locked, half-made registration (docs/adr/0005-worktrees-registered-by-rename.md).
 */
import path from 'node:path'
import { allEnded } from '../core/base/concurrency.ts'
import type { OtherFolder } from '../core/model/git.ts'
import type { Place, Repo } from '../core/model/repo.ts'
import type { Task } from '../core/model/task.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { IsolationKind } from '../core/ports/isolation.ts'
import type { GitExec } from '../git/exec.ts'
import { workspacePlace } from '../git/workspace-place.ts'
import { halfMade, markFile } from '../git/worktrees.ts'
import { checkOut, fill, resetIndex } from './fill.ts'

/** The agent shares the user's `.git`: its commits are in the user's repository at once. */
export function worktreeIsolation(exec: GitExec, files: FileSystem): IsolationKind {
  return {
    async make(repo, task, signal, onProgress) {
      await files.makeNewFolder(task.path)
      await files.write(path.join(task.path, '.git'), pointer(repo, task))
      await registerAnew(files, repo, task)
      signal?.throwIfAborted()
      await fill(exec, repo, task, signal, onProgress)
    },

    resetIndex: (repo, task, signal) => resetIndex(exec, repo, task, signal),
    checkOut: (repo, task, signal) => checkOut(exec, repo, task, signal),

    async findFault(repo, task) {
      const { pointed, known, locked } = await inspectLinks(files, repo, task)
      if (!pointed) return 'its .git does not point to the repository'
      if (!known) return 'its registration in the repository is gone or damaged'
      return locked ? 'git lists it as half-made (locked: initializing)' : undefined
    },

    async mend(repo, task, aside, signal) {
      const dotGit = path.join(task.path, '.git')
      const registered = workspacePlace(repo, task).gitDir
      const { pointed, known, locked } = await inspectLinks(files, repo, task)
      if (!pointed) {
        if ((await files.readKind(dotGit)) !== undefined)
          await files.rename(dotGit, await withParent(files, aside))
        await files.write(dotGit, pointer(repo, task))
      }
      if (!known) {
        const wrong = await files.readKind(registered)
        if (wrong !== undefined)
          await files.move(registered, `${await withParent(files, aside)}.registration`)
        await registerAnew(files, repo, task)
        await resetIndex(exec, repo, task, signal)
      } else if (locked) await files.remove(path.join(registered, 'locked'))
      return !pointed || !known || locked
    },

    findOther: (repo, task) => findOther(files, repo, task),

    async detach(repo, task, keep) {
      const registered = workspacePlace(repo, task).gitDir
      const staged = stagingFolder(repo, task)
      if ((await files.readKind(staged)) === 'folder') await files.remove(staged)
      if ((await files.readKind(registered)) !== 'folder' || (await findOther(files, repo, task))) return
      // If `keep` exists, a move across file systems was killed after its copy: only the original is left to remove.
      if ((await files.readKind(keep)) !== undefined) await files.remove(registered)
      else if (await isOwn(files, repo, task)) await files.move(registered, await withParent(files, keep))
      await files.removeEmptyFolder(path.dirname(registered))
    },

    async attach(repo, task, kept) {
      const registered = workspacePlace(repo, task).gitDir
      if ((await files.readKind(registered)) !== undefined) return
      await files.makeFolder(path.dirname(registered))
      if ((await files.readKind(kept)) === 'folder') await files.move(kept, registered)
      else await registerAnew(files, repo, task)
    },
  }
}

/** Whether the folder points to its registration, the registration to the folder, and git calls it half-made. */
async function inspectLinks(files: FileSystem, repo: Repo, task: Task) {
  const dotGit = path.join(task.path, '.git')
  const registered = workspacePlace(repo, task).gitDir
  const isFile = (await files.readKind(dotGit)) === 'file'
  const [found, known, lock] = await Promise.all([
    isFile ? files.readText(dotGit) : undefined,
    isRegistered(files, registered, dotGit),
    files.readText(path.join(registered, 'locked')),
  ])
  return { pointed: found === pointer(repo, task), known, locked: lock?.trim() === halfMade }
}

/** Whether git finds folder, repository and HEAD from the registration. */
async function isRegistered(files: FileSystem, registered: string, dotGit: string): Promise<boolean> {
  if ((await files.readKind(registered)) !== 'folder') return false
  const [back, common, head] = await Promise.all(
    ['gitdir', 'commondir', 'HEAD'].map((name) => files.readText(path.join(registered, name))),
  )
  if (back?.trimEnd() !== dotGit || common?.trimEnd() !== '../..') return false
  return /^(ref: refs\/\S+|[0-9a-f]{40}|[0-9a-f]{64})\n?$/.test(head ?? '')
}

/** Without our mark and a path to the workspace, git may have given this name to somebody else's worktree. */
async function isOwn(files: FileSystem, repo: Repo, task: Task): Promise<boolean> {
  const { folder, isMarked } = await readOwner(files, repo, task)
  return isMarked || (folder !== undefined && (await isSame(files, folder, task.path)))
}

/** The folder that the registration of this name points to, and whether it has the mark of the task. */
async function readOwner(files: FileSystem, repo: Repo, task: Task) {
  const registered = workspacePlace(repo, task).gitDir
  const [back, mark] = await Promise.all(
    ['gitdir', markFile].map((name) => files.readText(path.join(registered, name))),
  )
  const dotGit = path.resolve(registered, back?.trimEnd() ?? '')
  const folder = path.basename(dotGit) === '.git' ? path.dirname(dotGit) : undefined
  return { folder, isMarked: mark?.includes(`"uid":"${task.uid}"`) ?? false }
}

async function isSame(files: FileSystem, one: string, other: string): Promise<boolean> {
  return one === other || (await files.readRealPath(one)) === (await files.readRealPath(other))
}

/**
 * The other folder that has this registration: git reuses the name of a removed worktree, and a moved worktree keeps
 * it. If the path leads nowhere, or to a folder without `.git`, the registration is only damaged. If its user locked
 * it, as git advises for removable disks, the folder is merely away.
 */
async function findOther(files: FileSystem, repo: Repo, task: Task): Promise<OtherFolder | undefined> {
  const { folder, isMarked: isMoved } = await readOwner(files, repo, task)
  if (folder === undefined || (await isSame(files, folder, task.path))) return undefined
  if (!isMoved || (await files.readKind(path.join(folder, '.git'))) !== undefined)
    return { path: folder, isMoved }
  const lock = await files.readText(path.join(workspacePlace(repo, task).gitDir, 'locked'))
  if (lock === undefined || lock.trim() === halfMade) return undefined
  return { path: folder, isMoved, isAway: true }
}

async function withParent(files: FileSystem, target: string): Promise<string> {
  await files.makeFolder(path.dirname(target), 0o700)
  return target
}

export function pointer(repo: Repo, task: Task): string {
  return `gitdir: ${workspacePlace(repo, task).gitDir}\n`
}

function stagingFolder(repo: Repo, task: Task): string {
  return path.join(repo.commonDir, `offshoot-${path.basename(task.path)}.tmp`)
}

async function registerAnew(files: FileSystem, repo: Repo, task: Task): Promise<void> {
  const staged = stagingFolder(repo, task)
  if ((await files.readKind(staged)) === 'folder') await files.remove(staged)
  await files.makeNewFolder(staged)
  await inheritSparseness(files, repo.place, staged)
  await register(files, repo, task, staged)
}

/** Makes the staged folder, with its content, the registration of the task. */
export async function register(files: FileSystem, repo: Repo, task: Task, staged: string): Promise<void> {
  const written = {
    HEAD: `ref: refs/heads/${task.branch}`,
    commondir: '../..',
    gitdir: path.join(task.path, '.git'),
    [markFile]: JSON.stringify({ task: task.id, uid: task.uid }),
  }
  const writing = Object.entries(written).map(([name, text]) =>
    files.write(path.join(staged, name), `${text}\n`),
  )
  await allEnded(writing)
  await moveIntoPlace(files, staged, workspacePlace(repo, task).gitDir)
}

/** A git that removes the last registration also removes `worktrees`, perhaps between our two calls. */
async function moveIntoPlace(files: FileSystem, staged: string, registered: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await files.makeFolder(path.dirname(registered))
    try {
      return await files.move(staged, registered)
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === 10) throw thrown
    }
  }
}

/** A new worktree inherits the sparse cone of the checkout in which it was started, as with `git worktree add`. */
export async function inheritSparseness(files: FileSystem, place: Place, gitDir: string): Promise<void> {
  for (const file of ['info/sparse-checkout', 'config.worktree']) {
    const text = await files.readText(path.join(place.gitDir, file))
    if (text === undefined) continue
    await files.makeFolder(path.dirname(path.join(gitDir, file)))
    await files.write(path.join(gitDir, file), file === 'config.worktree' ? withoutPlace(text) : text)
  }
}

/** `core.worktree` and `core.bare` describe the other checkout, and must not be inherited. */
export function withoutPlace(config: string): string {
  return config.replace(/^[ \t]*(worktree|bare)[ \t]*(=.*)?(\r?\n|$)/gim, '')
}
