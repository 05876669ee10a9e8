/** A registration is found by its name alone: it may be that of another folder by now, and then it is not ours to touch. */
/** Paths in a repository that was moved. */
import type { Work } from '../tasks/work.ts'
import path from 'node:path'
import { quoted } from '../base/shell-quote.ts'
import { AppError } from '../model/errors.ts'
import type { OtherFolder } from '../model/git.ts'
import { type Repo, repoRoot } from '../model/repo.ts'
import { isOpen, type Task } from '../model/task.ts'
import { isolationOf } from './make.ts'

/** Where the user has moved the workspace, with git's own command. */
export async function findMovedTo(work: Work): Promise<string | undefined> {
  const other = await findOther(work)
  return other?.isMoved ? other.path : undefined
}

/** Throws when it was moved: what is at another place is in use there. */
export async function requireUnmoved(work: Work): Promise<void> {
  const { repo, task } = work
  const other = await findOther(work)
  if (other?.isMoved) throw moved(repo, task, other)
}

/** Throws when another folder has the registration that the workspace needs. */
export async function requireRegistration(work: Work): Promise<void> {
  const { repo, task } = work
  const other = await findOther(work)
  if (other) throw other.isMoved ? moved(repo, task, other) : taken(task, other.path)
}

/** Who has the registration that is the workspace's by its name. */
export async function findOther({ ports, repo, task }: Work): Promise<OtherFolder | undefined> {
  return task.shadow ? undefined : isolationOf(ports, task).findOther(repo, task)
}

function moved(repo: Repo, task: Task, other: OtherFolder): AppError {
  return new AppError('branchInUse', `The workspace of ${task.id} was moved to ${other.path}.`, {
    path: other.path,
    hint: movedHint(task, other, ` -C ${quoted(repoRoot(repo.commonDir))}`),
  })
}

/** `at`: where git is to do it. */
export function movedHint(
  task: Task,
  { path: to, isAway }: Omit<OtherFolder, 'isMoved'>,
  at: string,
): string {
  if (isAway)
    return `It is locked and not there now: mount it, or, if it is gone for good, git${at} worktree unlock ${quoted(to)}`
  return `git${at} worktree move ${quoted(to)} ${quoted(task.path)} brings it back.`
}

function taken(task: Task, by: string): AppError {
  const { id } = task
  return new AppError('branchInUse', `The worktree ${by} has the name of the workspace of ${id}.`, {
    path: by,
    hint: isOpen(task)
      ? `Remove that worktree, or give the task up: offshoot reject ${id} --keep-branch.`
      : 'Remove that worktree, then repeat.',
  })
}

/** Where a path is now: what was in the repository has moved with it, all else is where it was. */
export function follower(from: string, to: string): (file: string) => string {
  const [old, now] = [repoRoot(from), repoRoot(to)]
  return (file) => (file === old || file.startsWith(old + path.sep) ? now + file.slice(old.length) : file)
}
