/** Records without workspaces, written straight into the store. */
import path from 'node:path'
import type { Task } from '../src/core/model/task.ts'
import { composition } from './built.ts'
import type { BenchRepo } from './repos.ts'
import { append } from '../src/core/tasks/records.ts'

const commit = '0123456789abcdef0123456789abcdef01234567'

const hour = 3_600_000

/** Makes the repository known, with `count` open tasks that nobody has used for an hour. */
export async function putRecords(repo: BenchRepo, count: number): Promise<void> {
  const { compose } = await composition()
  const ports = compose({ env: repo.env })
  const now = () => new Date(ports.clock.now().getTime() - hour).toISOString()
  const owner = ports.processes.self()
  const id = ports.ids.uid()
  await ports.repos.put({
    id,
    name: 'repo',
    commonDir: path.join(repo.dir, '.git'),
    mark: commit,
    addedAt: now(),
  })
  for (let n = 1; n <= count; n++) {
    const task = openTask(repo, id, `TASK-${n}`, ports.ids.uid(), now())
    await append(ports, task.uid, { type: 'start.begun', task, owner }, now())
    await append(ports, task.uid, { type: 'start.done' }, now())
  }
  await ports.close()
}

function openTask(repo: BenchRepo, repoId: string, id: string, uid: string, at: string): Task {
  return {
    uid,
    repo: repoId,
    id,
    title: `What ${id} is about`,
    state: 'pending',
    isolation: 'worktree',
    path: path.join(repo.home, 'worktrees', 'repo', id),
    branch: `offshoot/${id}`,
    adopted: false,
    base: { branch: 'main', commit },
    origin: repo.dir,
    head: commit,
    checkpoints: 0,
    files: 0,
    insertions: 0,
    deletions: 0,
    runs: 0,
    createdAt: at,
    lastActiveAt: at,
  }
}
