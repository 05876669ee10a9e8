/**
 * Workspaces and repositories that the user has moved. Git finds a registration by its name alone, so by now it may
 * belong to another folder; then it is not ours to touch.
 */
import type { Work } from '../tasks/work.ts'
import path from 'node:path'
import { quoted } from '../base/shell-quote.ts'
import { AppError } from '../model/errors.ts'
import type { OtherFolder } from '../model/git.ts'
import { type Repo, repoRoot } from '../model/repo.ts'
import { isOpen, type Task } from '../model/task.ts'
import { isolationOf } from './make.ts'

/** The path that the user has moved the workspace to with `git worktree move`. */
export async function findMovedTo(work: Work): Promise<string | undefined> {
  const other = await findOther(work)
  return other?.isMoved ? other.path : undefined
}

/** Throws when the workspace was moved, because somebody uses it at its new place. */
export async function requireUnmoved(work: Work): Promise<void> {
  const { repo, task } = work
  const other = await findOther(work)
  if (other?.isMoved) throw movedError(repo, task, other)
}

/** Throws when another folder has the registration that the workspace needs. */
export async function requireRegistration(work: Work): Promise<void> {
  const { repo, task } = work
  const other = await findOther(work)
  if (other) throw other.isMoved ? movedError(repo, task, other) : takenError(task, other.path)
}

/** The other folder that has the registration of this workspace's name. */
export async function findOther({ ports, repo, task }: Work): Promise<OtherFolder | undefined> {
  return task.shadow ? undefined : isolationOf(ports, task).findOther(repo, task)
}

function movedError(repo: Repo, task: Task, other: OtherFolder): AppError {
  return new AppError('branchInUse', `The workspace of ${task.id} was moved to ${other.path}.`, {
    path: other.path,
    hint: movedHint(task, other, ` -C ${quoted(repoRoot(repo.commonDir))}`),
  })
}

/** The way back for the user; `at` is the `-C` option of the git commands in it. */
export function movedHint(
  task: Task,
  { path: to, isAway }: Omit<OtherFolder, 'isMoved'>,
  at: string,
): string {
  if (isAway)
    return `It is locked and not there now: mount it, or, if it is gone for good, git${at} worktree unlock ${quoted(to)}`
  return `git${at} worktree move ${quoted(to)} ${quoted(task.path)} brings it back.`
}

function takenError(task: Task, by: string): AppError {
  const { id } = task
  return new AppError('branchInUse', `The worktree ${by} has the name of the workspace of ${id}.`, {
    path: by,
    hint: isOpen(task)
      ? `Remove that worktree, or give the task up: offshoot reject ${id} --keep-branch.`
      : 'Remove that worktree, then repeat.',
  })
}

/** Translates paths after a move of the repository: a path inside of it has moved with it, all others stay. */
export function follower(from: string, to: string): (file: string) => string {
  const [old, now] = [repoRoot(from), repoRoot(to)]
  return (file) => (file === old || file.startsWith(old + path.sep) ? now + file.slice(old.length) : file)
}
