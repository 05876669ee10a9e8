/** What things cost on the disk, in words. */
import path from 'node:path'
import type { Repo } from '../model/repo.ts'
import { isOpen, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { poolFolder } from '../workspaces/slot.ts'

export interface DiskUse {
  /** Bytes of each workspace. One in the user's own checkout costs nothing. */
  readonly workspaces: readonly { readonly task: string; readonly path: string; readonly bytes: number }[]
  /** Of the repository as a whole. */
  readonly vault: number
  readonly pool: number
  readonly trash: number
}

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

/** The folders that hold workspaces; a setting may have changed since the first was made. */
function basesOf(tasks: readonly Task[]): string[] {
  return [...new Set(tasks.filter((task) => !task.shadow).map((task) => path.dirname(task.path)))]
}

/** `512 B`, `3.4 MiB`. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const amount = bytes / 1024 ** power
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`
}

/** All of it in one line. */
export function diskText({ workspaces, vault, pool, trash }: DiskUse): string {
  const all = workspaces.reduce((total, { bytes }) => total + bytes, 0)
  return `workspaces ${sizeText(all)}, vault ${sizeText(vault)}, pool ${sizeText(pool)}, trash ${sizeText(trash)}`
}
