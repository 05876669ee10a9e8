/** Makes runs wait for a place, so that no more of them work at once than the limits allow, in whichever process. */
import type { Repo } from '../model/repo.ts'
import type { Ports } from '../ports/index.ts'
import type { RunLimits } from './next-runs.ts'

/** How long to wait for one place before trying the next. */
const lookMs = 200

/** Places that so many runs share. */
interface Places {
  readonly name: string
  readonly limit: number
}

/**
 * The places that a run needs, the narrowest first: whoever has one of its repository and waits for one of all keeps only
 * runs waiting that would wait for one of all as well.
 */
export function placesOf({ id }: Pick<Repo, 'id'>, agent: string, limits: RunLimits): Places[] {
  const { concurrent, perAgent, global } = limits
  return [
    { name: id, limit: concurrent },
    { name: `agent ${agent}`, limit: perAgent },
    { name: 'all', limit: global },
  ].filter(({ limit }) => limit > 0)
}

/** Runs `work` once it has one of each places. `queued` is told once, with the limit of the first that is full. */
export async function inTurn<T>(
  ports: Pick<Ports, 'locks'>,
  places: readonly Places[],
  queued: (limit: number) => void,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const [first, ...others] = places
  if (!first) return work()
  let isTold = false
  const tell = (limit: number) => {
    if (!isTold) queued(limit)
    isTold = true
  }
  return atPlace(ports, first, tell, () => inTurn(ports, others, tell, work, signal), signal)
}

async function atPlace<T>(
  ports: Pick<Ports, 'locks'>,
  { name, limit }: Places,
  queued: (limit: number) => void,
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let round = 0; ; round++) {
    const place = `turn ${name} ${round % limit}`
    // Tries each place once without waiting; then waits at one after the other.
    const waitMs = round < limit ? 0 : lookMs
    if (round === limit) queued(limit)
    const done = await ports.locks.tryHold(place, { verb: 'run', waitMs, signal }, work)
    if (done !== 'busy') return done.value
  }
}
