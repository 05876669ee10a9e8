/** What a repository's tasks cost on the disk. */
import path from 'node:path'
import { findMeant } from './tasks/find.ts'
import type { Ports } from './ports/index.ts'
import type { Repo } from './model/repo.ts'
import { findRepo } from './tasks/repo.ts'
import { poolFolder } from './workspaces/slot.ts'
import { isOpen, type Task } from './model/task.ts'

export interface DiskUse {
  /** Bytes of each workspace. One in the user's own checkout costs nothing. */
  readonly workspaces: readonly { readonly task: string; readonly path: string; readonly bytes: number }[]
  /** Of the repository as a whole. */
  readonly vault: number
  readonly pool: number
  readonly trash: number
}

const nothing: DiskUse = { workspaces: [], vault: 0, pool: 0, trash: 0 }

/** Of every open task, or of the one that is named. Adds up every file: it takes its time. */
export async function disk(
  ports: Ports,
  input: { dir: string; task?: string | undefined },
  signal?: AbortSignal,
): Promise<DiskUse> {
  if (input.task !== undefined) {
    const { repo, task } = await findMeant(ports, input.dir, input.task)
    return readUse(ports, repo, [task], signal)
  }
  const { repo } = await findRepo(ports, input.dir)
  return repo
    ? readUse(ports, repo, await ports.store.readTasks({ repo: repo.id, open: true }), signal)
    : nothing
}

async function readUse(
  ports: Ports,
  repo: Repo,
  tasks: readonly Task[],
  signal?: AbortSignal,
): Promise<DiskUse> {
  const sum = async (folders: readonly string[]) => {
    let bytes = 0
    for (const folder of folders) {
      signal?.throwIfAborted()
      bytes += await ports.files.readUsage(folder)
    }
    return bytes
  }
  const workspaces: DiskUse['workspaces'][number][] = []
  for (const task of tasks.filter((one) => isOpen(one) && !one.shadow))
    workspaces.push({ task: task.id, path: task.path, bytes: await sum([task.path]) })
  const bases = basesOf(await ports.store.readTasks({ repo: repo.id }))
  return {
    workspaces,
    vault: await ports.vault.readUsage(repo),
    pool: await sum(bases.map(poolFolder)),
    trash: await sum(bases.map((base) => path.join(base, '.trash'))),
  }
}

/** The folders that hold workspaces; a setting may have changed since the first was made. */
function basesOf(tasks: readonly Task[]): string[] {
  return [...new Set(tasks.filter((task) => !task.shadow).map((task) => path.dirname(task.path)))]
}
