/** Worktrees that are there although no open task has them. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { OpenRepo, TaskView } from '../../src/index.ts'
import type { TestRepo } from './repo.ts'

/** Folder, registration and pin of a task that is closed, as if it had been closed without them. */
export async function leftBehind(
  user: TestRepo,
  repo: OpenRepo,
  id: string,
  how: { readonly dirty?: boolean } = {},
): Promise<TaskView> {
  const { task } = await repo.start({ task: id })
  const name = path.basename(task.path)
  await repo.reject({ task: id })
  const trash = path.join(path.dirname(task.path), '.trash', name)
  const registration = path.join(user.dir, '.git', 'worktrees', name)
  renameSync(path.join(trash, 'workspace'), task.path)
  mkdirSync(path.dirname(registration), { recursive: true })
  renameSync(path.join(trash, 'registration'), registration)
  const { uid } = JSON.parse(readFileSync(path.join(registration, 'offshoot.json'), 'utf8'))
  user.git('update-ref', `refs/offshoot/base/${uid}`, 'HEAD')
  if (how.dirty) writeFileSync(path.join(task.path, 'unsaved.txt'), 'unsaved\n')
  return task
}

/** One that somebody made with plain git among the workspaces. */
export function madeByHand(user: TestRepo, workspace: string): string {
  const folder = path.join(path.dirname(workspace), 'by-hand')
  user.git('worktree', 'add', '--quiet', '-b', 'by-hand', folder)
  return folder
}
