/** Queues runs, so that at most `limits.concurrent` work in one repository at once. */
import type { Repo } from '../model/repo.ts'
import type { Ports } from '../ports/index.ts'

/** How long to wait for one place before trying the next. */
const lookMs = 200

/** Runs `work` once fewer than `limit` others work in this repository, in any process. */
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
    // Tries each place once without waiting; then waits at one after the other.
    const waitMs = round < limit ? 0 : lookMs
    if (round === limit) queued()
    const done = await ports.locks.tryHold(place, { verb: 'run', waitMs, signal }, work)
    if (done !== 'busy') return done.value
  }
}
