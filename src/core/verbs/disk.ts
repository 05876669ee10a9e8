/** The verb disk: shows the disk space that a repository's tasks take. */
import type { Ports } from '../ports/index.ts'
import { findMeant } from '../tasks/find.ts'
import { findRepo } from '../tasks/repo.ts'
import type { DiskUse } from '../model/disk-use.ts'
import { nothing, readUse } from '../trash/disk-use.ts'

/** For every open task, or the named one. Reads the size of every file, which takes time. */
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
