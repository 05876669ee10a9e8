/**
 * The folders of slots (docs/adr/0022-workspaces-made-ahead.md). A slot is a folder beside the workspaces: `<id>.making`
 * while it is made, `<id>` when it is ready, `<id>.<uid of the task>` once a start has taken it, `<id>.gone` when it is to
 * be deleted. Each becomes the next by one rename, so that only one of several starts gets it, and the name of a leftover
 * tells what it is.
 */
import path from 'node:path'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'

/** The key of the note that a repository's slots are being made, or that some are to be deleted. */
export function poolNote(repo: string): string {
  return `pool ${repo}`
}

/** The pool is beside the workspaces, because a rename must not cross file systems. */
export function poolFolder(base: string): string {
  return path.join(base, '.pool')
}

/** Renames a slot; false when another process was faster. */
export async function claim({ files }: Ports, from: string, to: string): Promise<boolean> {
  try {
    await files.rename(from, to)
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw thrown
  }
}

/** Deletes the slot that an unfinished start had taken. */
export async function dropTaken(ports: Ports, task: Task): Promise<void> {
  const pool = poolFolder(path.dirname(task.path))
  for (const name of await ports.files.readNames(pool)) {
    if (name.endsWith(`.${task.uid}`)) await ports.files.remove(path.join(pool, name))
  }
}
