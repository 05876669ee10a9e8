import { appError } from '../model/errors.ts'
import type { Repo } from '../model/repo.ts'
import type { Ports } from '../ports/index.ts'

/** How long to wait at one place before looking whether another has become free. */
const lookMs = 200

/** Runs the work when fewer than `limit` others are at work in this repository, in whatever process. */
export async function inTurn<T>(
  ports: Ports,
  repo: Repo,
  limit: number,
  queued: () => void,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let round = 0; ; round++) {
    let begun = false
    const place = `turn ${repo.id} ${round % limit}`
    // One look at each place first; whoever finds none queues.
    const waitMs = round < limit ? 0 : lookMs
    if (round === limit) queued()
    try {
      return await ports.locks.hold(place, { verb: 'run', waitMs, signal }, () => {
        begun = true
        return work()
      })
    } catch (error) {
      if (begun || appError(error).problem !== 'locked') throw error
    }
  }
}
