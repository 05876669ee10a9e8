/** The verb orphans: lists the worktrees and folders of a repository that belong to no open task, and those that an open task misses. */
import { AppError } from '../model/errors.ts'
import type { Ports } from '../ports/index.ts'
import { judge, type Orphan } from '../recovery/judge.ts'
import { scan } from '../recovery/scan.ts'
import { findRepo } from '../tasks/repo.ts'

export interface FoundOrphan extends Omit<Orphan, 'repo'> {
  /** Since its folder last changed, in milliseconds; since the task was last used, when the folder is gone; null: not known. */
  readonly age: number | null
}

/** Looks as recovery does, and changes nothing. Throws when something could not be read, because half a look proves nothing. */
export async function orphans(
  ports: Ports,
  { dir }: { readonly dir: string },
  signal?: AbortSignal,
): Promise<FoundOrphan[]> {
  const { repo } = await findRepo(ports, dir)
  if (!repo) return []
  const world = await scan(ports, { repos: new Set([repo.id]) }, signal)
  const [unread] = world.failed
  if (unread)
    throw new AppError('failed', `${unread.what} could not be looked at: ${unread.why}`, {
      hint: unread.hint ?? 'Make it readable, then repeat.',
    })
  const lastUse = new Map(world.tasks.map(({ task }) => [task.path, task.lastActiveAt]))
  const found: FoundOrphan[] = []
  for (const { orphan } of judge(world, repo.id)) {
    if (!orphan) continue
    const { path, kind, branch, task } = orphan
    const used = lastUse.get(path)
    const since = (await ports.files.readTime(path)) ?? (used === undefined ? undefined : new Date(used))
    const age = since === undefined ? null : Math.max(0, Math.round(world.now.getTime() - since.getTime()))
    found.push({ path, kind, branch, task, age })
  }
  return found
}
