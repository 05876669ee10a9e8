/** The verb disk: shows the disk space that a repository's tasks take. */
import type { Ports } from '../ports/index.ts'
import { requireTask } from '../tasks/find.ts'
import type { DiskUse } from '../model/disk-use.ts'
import { readUse, readUseAt } from '../trash/disk-use.ts'

/** For every open task, or the named one. Reads the size of every file, which takes time. */
export async function disk(
  ports: Ports,
  input: { dir: string; task?: string | undefined },
  signal?: AbortSignal,
): Promise<DiskUse> {
  if (input.task === undefined) return readUseAt(ports, input.dir, signal)
  const { repo, task } = await requireTask(ports, input.dir, input.task)
  return readUse(ports, repo, [task], signal)
}
