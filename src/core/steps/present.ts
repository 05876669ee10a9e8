/** Looks at the workspace of a task as it is now, for verbs that only look. */
import { appError } from '../model/errors.ts'
import type { Present } from '../model/step.ts'
import { isOpen } from '../model/task.ts'
import type { Work } from '../tasks/work.ts'
import { requireUnmoved } from '../workspaces/moved.ts'
import { requireOnBranch } from '../workspaces/recreate.ts'

/** Undefined where a task has no workspace; `why` where it has one that cannot be read, which keeps nobody from looking at its steps. */
export async function findPresent(work: Work): Promise<Present | { readonly why: string } | undefined> {
  const { ports, repo, task, signal } = work
  if (!isOpen(task) || (await ports.files.readKind(task.path)) !== 'folder') return undefined
  try {
    await requireUnmoved(work)
    await requireOnBranch(work)
    return await ports.steps.readPresent(repo, task, signal)
  } catch (thrown) {
    signal?.throwIfAborted()
    return { why: appError(thrown).message }
  }
}
