/** Measures the disk space that workspaces, vault, pool and trash of a repository take. */
import path from 'node:path'
import type { DiskUse } from '../model/disk-use.ts'
import type { Repo } from '../model/repo.ts'
import { isOpen, type Task } from '../model/task.ts'
import { poolOf, trashOf } from '../model/layout.ts'
import type { Ports, Records } from '../ports/index.ts'
import { findRepo } from '../tasks/repo.ts'

const nothing: DiskUse = { workspaces: [], vault: 0, pool: 0, trash: 0 }

/** The use of the repository that `dir` is in, with the workspace of every open task. */
export async function readUseAt(
  ports: Pick<Ports, 'care' | 'disk' | 'store'> & Records,
  dir: string,
  signal?: AbortSignal,
): Promise<DiskUse> {
  const { repo } = await findRepo(ports, dir)
  if (!repo) return nothing
  return readUse(ports, repo, await ports.store.readTasks({ repo: repo.id, open: true }), signal)
}

export async function readUse(
  ports: Pick<Ports, 'care' | 'disk' | 'store'>,
  repo: Repo,
  tasks: readonly Task[],
  signal?: AbortSignal,
): Promise<DiskUse> {
  const sum = async (folders: readonly string[]) => {
    let bytes = 0
    for (const folder of folders) {
      signal?.throwIfAborted()
      bytes += await ports.disk.readUsage(folder)
    }
    return bytes
  }
  const workspaces: DiskUse['workspaces'][number][] = []
  for (const task of tasks.filter((one) => isOpen(one) && !one.shadow))
    workspaces.push({ task: task.id, path: task.path, bytes: await sum([task.path]) })
  const bases = basesOf(await ports.store.readTasks({ repo: repo.id }))
  return {
    workspaces,
    vault: await ports.care.readUsage(repo),
    pool: await sum(bases.map(poolOf)),
    trash: await sum(bases.map(trashOf)),
  }
}

/** The parent folders of all workspaces: `workspace.base` may have changed since the first was made. */
function basesOf(tasks: readonly Task[]): string[] {
  return [...new Set(tasks.filter((task) => !task.shadow).map((task) => path.dirname(task.path)))]
}
