/** What a follower of the log has seen, and what each pushed message means for it. Pure and browser-safe. */
import type { Notification } from '../protocol/envelope.ts'

export interface Seen {
  /** The last event that the follower has, and the log that it is of; undefined before the first snapshot. */
  readonly seq?: number | undefined
  readonly log?: string | undefined
}

/** `old`: it is known already. `gap`: something before it is missing, so that the follower has to ask again. */
export type Verdict = 'new' | 'old' | 'gap'

type Chained = Exclude<Notification, { action: 'task.output' | 'forecast.changed' | 'disk' }>

export function receive(seen: Seen, message: Chained): { readonly seen: Seen; readonly verdict: Verdict } {
  if (message.action === 'snapshot' || message.action === 'reset') {
    const { seq, log } = message.payload
    const isOld = log === seen.log && seq < (seen.seq ?? 0)
    return isOld ? { seen, verdict: 'old' } : { seen: { seq, log }, verdict: 'new' }
  }
  const { seq, prev } = message.payload
  if (seq === undefined || prev === undefined) return { seen, verdict: 'old' }
  if (seen.seq === undefined || prev > seen.seq) return { seen, verdict: 'gap' }
  if (seq <= seen.seq) return { seen, verdict: 'old' }
  return { seen: { ...seen, seq }, verdict: 'new' }
}
