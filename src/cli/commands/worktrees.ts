/** `worktree list`: prints every worktree of the repository, as git lists them, with its task. */
import { type Answer, type Context, flag } from '../command.ts'
import { table } from '../output.ts'

export async function worktreeList({ call, dir, values }: Context): Promise<Answer> {
  const { worktrees, tasks } = await call('worktree.list', { repo: dir, all: flag(values, 'all') })
  const rows = worktrees.map(({ path, branch, head, isMain, isOrphan, task, state }) => [
    task ?? '(none)',
    isMain ? 'main' : isOrphan ? 'orphan' : (state ?? ''),
    branch ?? '(detached)',
    head?.slice(0, 10) ?? '',
    path,
  ])
  return {
    json: { worktrees, tasks },
    text: await table([['TASK', 'STATE', 'BRANCH', 'HEAD', 'WORKTREE'], ...rows]),
  }
}
