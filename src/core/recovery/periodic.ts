/** Recovery at regular times, beside a run. */
import type { Ports } from '../ports/index.ts'

/** Says when somebody last looked after everything. */
const note = 'recovered at'

/**
 * Recovers every so many minutes until the answer is called, which waits for a recovery under way; 0 minutes is never. Of
 * several processes that do so, one recovers. What cannot be put right is tried again the next time.
 */
export function recoverMeanwhile(ports: Ports, everyMinutes: number): () => Promise<void> {
  if (everyMinutes === 0) return async () => {}
  const every = everyMinutes * 60_000
  const over = new AbortController()
  let round: Promise<void> | undefined
  const look = async () => {
    const { recover } = await import('./reconcile.ts')
    if (await isDue(ports, every)) await recover(ports, over.signal)
  }
  const timer = setInterval(() => {
    round ??= look()
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

async function isDue({ notes, clock }: Ports, every: number): Promise<boolean> {
  const now = clock.now()
  const last = Date.parse((await notes.find(note)) ?? '')
  // One's own last time is never quite so long ago; a time to come is that of a clock that went wrong.
  if (Math.abs(now.getTime() - last) < every * 0.9) return false
  await notes.put(note, now.toISOString())
  return true
}
