/** The verb pool: fills or clears the pool of a repository (docs/adr/0022-workspaces-made-ahead.md). */
import type { Ports } from '../ports/index.ts'
import { requireRepo } from '../tasks/repo.ts'
import { fill, type Filled, findPool, poolLock, putMark, takeAway } from '../workspaces/pool.ts'

export interface PoolInput {
  readonly dir: string
  /** Deletes all slots, and makes none. */
  readonly clear?: boolean | undefined
}

/** Makes slots up to `pool.size`, and deletes those that are of no use any more. */
export async function fillPool(ports: Ports, input: PoolInput, signal?: AbortSignal): Promise<Filled> {
  const repo = await requireRepo(ports, input.dir, signal)
  const settings = await ports.settings.read(repo.place.checkout)
  const folder = await findPool(ports, repo, settings)
  const size = input.clear ? 0 : settings.pool.size
  return ports.locks.hold(poolLock(repo.place), { verb: 'pool', waitMs: 0, signal }, async () => {
    // Leftovers may exist although no process works there: a start that was killed could not note them.
    await putMark(ports, repo.id, { folder, owner: ports.processes.self() })
    try {
      return await fill(ports, repo, folder, size, signal)
    } finally {
      await takeAway(ports, folder, () => false)
      await putMark(ports, repo.id, undefined)
    }
  })
}
