/** Runs recovery at intervals, beside a run. */
import type { Ports } from '../ports/index.ts'

/** The note with the time of the last recovery. */
const note = 'recovered at'

/**
 * Recovers every `everyMinutes` until the answered function is called, which waits for a recovery under way; 0 is never. Of
 * several processes that do this, one recovers. A recovery that fails is tried again the next time.
 */
export function recoverMeanwhile(ports: Ports, everyMinutes: number): () => Promise<void> {
  if (everyMinutes === 0) return async () => {}
  const every = everyMinutes * 60_000
  const over = new AbortController()
  let round: Promise<void> | undefined
  const recoverIfDue = async () => {
    const { recover } = await import('./reconcile.ts')
    if (await isDue(ports, every)) await recover(ports, over.signal)
  }
  const timer = setInterval(() => {
    round ??= recoverIfDue()
      .catch(() => {})
      .finally(() => {
        round = undefined
      })
  }, every)
  return async () => {
    clearInterval(timer)
    over.abort()
    await round
  }
}

/** Reads the note and writes it under one lock, so that of several processes only one finds the recovery due. */
async function isDue(
  { locks, notes, clock }: Pick<Ports, 'clock' | 'locks' | 'notes'>,
  every: number,
): Promise<boolean> {
  const decided = await locks.tryHold(note, { verb: 'recover' }, async () => {
    const now = clock.now()
    const last = Date.parse((await notes.find(note)) ?? '')
    // Our own last note is slightly younger than one interval, hence 0.9. A time in the future is of a wrong clock.
    if (Math.abs(now.getTime() - last) < every * 0.9) return false
    await notes.put(note, now.toISOString())
    return true
  })
  return decided !== 'busy' && decided.value
}
