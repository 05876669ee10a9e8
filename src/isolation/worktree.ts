/**
 * Linked worktrees, registered by writing the files that git keeps for them: the registration appears by one
 * rename, whereas `git worktree add` makes it piece by piece and a kill leaves it locked and half there.
 */
import path from 'node:path'
import { allEnded } from '../core/base/concurrency.ts'
import type { OtherFolder } from '../core/model/git.ts'
import type { Place, Repo } from '../core/model/repo.ts'
import type { Task } from '../core/model/task.ts'
import { headOn } from '../core/model/refs.ts'
import { registrationDraft, registrationMark } from '../core/model/layout.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { IsolationKind } from '../core/ports/isolation.ts'
import type { GitExec } from '../git/exec.ts'
import { workspacePlace } from '../git/workspace-place.ts'
import { halfMade } from '../git/worktrees.ts'
import { checkOut, fill, resetIndex } from './fill.ts'

/** The agent shares the user's `.git`: its commits are there at once. */
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
      const { pointed, known, locked } = await look(files, repo, task)
      if (!pointed) return 'its .git does not lead to the repository'
      if (!known) return 'its registration in the repository is gone or damaged'
      return locked ? 'git takes it for half-made (locked: initializing)' : undefined
    },

    async mend(repo, task, aside, signal) {
      const dotGit = path.join(task.path, '.git')
      const registered = workspacePlace(repo, task).gitDir
      const { pointed, known, locked } = await look(files, repo, task)
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
      const staged = registrationDraft(repo.commonDir, task.path)
      if ((await files.readKind(staged)) === 'folder') await files.remove(staged)
      if ((await files.readKind(registered)) !== 'folder' || (await findOther(files, repo, task))) return
      // A move to another file system that was killed after its copy took its name has only the rest to take away.
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

/** Whether the folder leads to its registration, and that to the folder. */
async function look(files: FileSystem, repo: Repo, task: Task) {
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

/** All that git needs to find its way from the registration. */
async function isRegistered(files: FileSystem, registered: string, dotGit: string): Promise<boolean> {
  if ((await files.readKind(registered)) !== 'folder') return false
  const [back, common, head] = await Promise.all(
    ['gitdir', 'commondir', 'HEAD'].map((name) => files.readText(path.join(registered, name))),
  )
  if (back?.trimEnd() !== dotGit || common?.trimEnd() !== '../..') return false
  return /^(ref: refs\/\S+|[0-9a-f]{40}|[0-9a-f]{64})\n?$/.test(head ?? '')
}

/** What neither carries our mark nor leads to the workspace may be anybody's that git gave the name to. */
async function isOwn(files: FileSystem, repo: Repo, task: Task): Promise<boolean> {
  const { folder, isMarked } = await readOwner(files, repo, task)
  return isMarked || (folder !== undefined && (await isSame(files, folder, task.path)))
}

/** The folder that the registration of that name leads to, and whether it carries the mark of the task. */
async function readOwner(files: FileSystem, repo: Repo, task: Task) {
  const registered = workspacePlace(repo, task).gitDir
  const [back, mark] = await Promise.all(
    ['gitdir', registrationMark].map((name) => files.readText(path.join(registered, name))),
  )
  const dotGit = path.resolve(registered, back?.trimEnd() ?? '')
  const folder = path.basename(dotGit) === '.git' ? path.dirname(dotGit) : undefined
  return { folder, isMarked: mark?.includes(`"uid":"${task.uid}"`) ?? false }
}

async function isSame(files: FileSystem, one: string, other: string): Promise<boolean> {
  return one === other || (await files.readRealPath(one)) === (await files.readRealPath(other))
}

/**
 * Whose registration it is, if not the workspace's own: git gives the name of one that is gone to the next, and a
 * worktree that is moved keeps it. One that leads nowhere, or where nothing of ours is any more, is only damaged, unless
 * its user locked it: that is how git is told of a disk that is not always there.
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

async function registerAnew(files: FileSystem, repo: Repo, task: Task): Promise<void> {
  const staged = registrationDraft(repo.commonDir, task.path)
  if ((await files.readKind(staged)) === 'folder') await files.remove(staged)
  await files.makeNewFolder(staged)
  await inheritSparseness(files, repo.place, staged)
  await register(files, repo, task, staged)
}

/** The folder becomes the registration of the task, with all that is in it. */
export async function register(files: FileSystem, repo: Repo, task: Task, staged: string): Promise<void> {
  const written = {
    HEAD: headOn(task.branch),
    commondir: '../..',
    gitdir: path.join(task.path, '.git'),
    [registrationMark]: JSON.stringify({ task: task.id, uid: task.uid }),
  }
  const writing = Object.entries(written).map(([name, text]) =>
    files.write(path.join(staged, name), `${text}\n`),
  )
  await allEnded(writing)
  await intoPlace(files, staged, workspacePlace(repo, task).gitDir)
}

/** Whoever takes the last registration away takes the folder with it, perhaps between our two steps. */
async function intoPlace(files: FileSystem, staged: string, registered: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await files.makeFolder(path.dirname(registered))
    try {
      return await files.move(staged, registered)
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === 10) throw thrown
    }
  }
}

/** A new worktree has the sparse cone of the checkout it was started in, as with git itself. */
export async function inheritSparseness(files: FileSystem, place: Place, gitDir: string): Promise<void> {
  for (const file of ['info/sparse-checkout', 'config.worktree']) {
    const text = await files.readText(path.join(place.gitDir, file))
    if (text === undefined) continue
    await files.makeFolder(path.dirname(path.join(gitDir, file)))
    await files.write(path.join(gitDir, file), file === 'config.worktree' ? withoutPlace(text) : text)
  }
}

/** `core.worktree` and `core.bare` say where the other checkout is; they must not be inherited. */
export function withoutPlace(config: string): string {
  return config.replace(/^[ \t]*(worktree|bare)[ \t]*(=.*)?(\r?\n|$)/gim, '')
}
