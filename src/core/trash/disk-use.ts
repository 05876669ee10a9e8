/** Measures the disk space that workspaces, vault, pool and trash of a repository take. */
import path from 'node:path'
import type { DiskUse } from '../model/disk-use.ts'
import type { Repo } from '../model/repo.ts'
import { isOpen, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { poolFolder } from '../workspaces/slot.ts'

export const nothing: DiskUse = { workspaces: [], vault: 0, pool: 0, trash: 0 }

export async function readUse(
  ports: Ports,
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
    pool: await sum(bases.map(poolFolder)),
    trash: await sum(bases.map((base) => path.join(base, '.trash'))),
  }
}

/** The parent folders of all workspaces: `workspace.base` may have changed since the first was made. */
function basesOf(tasks: readonly Task[]): string[] {
  return [...new Set(tasks.filter((task) => !task.shadow).map((task) => path.dirname(task.path)))]
}
