/** The queue of runs: only so many are at work in one repository at a time. */
import type { Repo } from '../model/repo.ts'
import type { Ports } from '../ports/index.ts'

/** How long a run waits at one place before it looks whether another has become free. */
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
    const place = `turn ${repo.id} ${round % limit}`
    // Each place is asked once without waiting. If all are taken, the run is queued.
    const waitMs = round < limit ? 0 : lookMs
    if (round === limit) queued()
    const done = await ports.locks.tryHold(place, { verb: 'run', waitMs, signal }, work)
    if (done !== 'busy') return done.value
  }
}
