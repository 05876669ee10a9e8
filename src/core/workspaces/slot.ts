/**
 * The folders of workspaces that are made ahead of need. A slot is a folder beside the workspaces: `<id>` when it is whole, `<id>.making` before,
 * `<id>.<uid of the task>` once a start has taken it, `<id>.gone` when nobody may have it. Each turns into the next by one
 * rename, so that of several starts only one gets it, and what a killed one leaves is known by its name.
 */
import path from 'node:path'
import type { Task } from '../model/task.ts'
import { poolOf } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'

/** Where it is noted that a repository's slots are being made, or that some are to be taken away. */
export function poolNote(repo: string): string {
  return `pool ${repo}`
}

/** False when somebody else was faster. */
export async function claim({ files }: Ports, from: string, to: string): Promise<boolean> {
  try {
    await files.rename(from, to)
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw thrown
  }
}

/** Takes back what a start that did not end had taken. */
export async function dropTaken(ports: Ports, task: Task): Promise<void> {
  const pool = poolOf(path.dirname(task.path))
  for (const name of await ports.files.readNames(pool)) {
    if (name.endsWith(`.${task.uid}`)) await ports.files.remove(path.join(pool, name))
  }
}
