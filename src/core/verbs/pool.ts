import type { Ports } from '../ports/index.ts'
import { requireRepo } from '../tasks/repo.ts'
import { fill, type Filled, findPool, poolLock, putMark, takeAway } from '../workspaces/pool.ts'

export interface PoolInput {
  readonly dir: string
  /** Makes none, and takes away those that are there. */
  readonly clear?: boolean | undefined
}

/** Makes workspaces ahead until there are as many as wanted, and takes away what is of no use any more. */
export async function fillPool(ports: Ports, input: PoolInput, signal?: AbortSignal): Promise<Filled> {
  const repo = await requireRepo(ports, input.dir, signal)
  const settings = await ports.settings.read(repo.place.checkout)
  const folder = await findPool(ports, repo, settings)
  const size = input.clear ? 0 : settings.pool.size
  return ports.locks.hold(poolLock(repo.place), { verb: 'pool', waitMs: 0, signal }, async () => {
    // Also with nobody at work there may be something: a start that was killed cannot say so.
    await putMark(ports, repo.id, { folder, owner: ports.processes.self() })
    try {
      return await fill(ports, repo, folder, size, signal)
    } finally {
      await takeAway(ports, folder, () => false)
      await putMark(ports, repo.id, undefined)
    }
  })
}
