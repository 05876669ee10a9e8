/**
 * Sends a subscriber the events of the log, each once and in order. It keeps no queue: it knows the last event that was sent,
 * and reads on from there whenever the client has taken what it was sent (docs/adr/0064-one-cursor-a-client.md).
 */
import { eventView, type Feed, type LogEnd, type Subscription } from '../api/follow.ts'
import type { Notification, SubscribeInput } from '../protocol/envelope.ts'
import type { Wire } from './wire.ts'

/** Who is further behind gets the tasks as they are now instead of every event. */
const most = { behind: 10_000, stalledMs: 60_000 }

type Why = Extract<Notification, { action: 'reset' }>['payload']['why']

interface Needs {
  readonly feed: Feed
  readonly subscription: Subscription
  readonly wire: Wire
  readonly now: () => number
  /** Is called with each failure to read; the cursor has stopped. */
  readonly failed: (thrown: unknown) => void
  /** Whether the client may still be told anything. */
  readonly isLet: () => Promise<boolean>
  readonly sent: (action: 'snapshot' | 'reset' | 'task.event') => void
}

export interface Cursor {
  /** Goes on sending: the log has grown, or the client has taken what it was sent. */
  go(): void
  /** Where the client is: it was sent everything up to `seq`, and `prev` before. */
  beat(): { readonly seq: number; readonly prev: number } | undefined
  close(): void
}

/** Begins after `since`, or with a snapshot where that is left out, too old, or of another log. */
export function openCursor(needs: Needs, end: LogEnd, { since, log }: SubscribeInput): Cursor {
  const { feed, subscription, wire, now, failed, isLet, sent } = needs
  let last = end
  /** The last event that was looked at, and the last one that the client was told of. */
  let [at, told] = [since ?? 0, since ?? 0]
  let ownLog = log ?? end.log
  let stalledAt: number | undefined
  let isRunning = false
  let isAgain = false
  let isClosed = false
  let missing: Why | undefined = since === undefined ? 'new' : since > end.seq ? 'other log' : whyMissing()
  if (missing === 'behind') missing = 'too old'
  let isInitial = missing !== undefined

  /** The end of the log may be known later than events that were read from it: a smaller number alone means nothing. */
  function whyMissing(): Why | undefined {
    if (last.log !== ownLog) return 'other log'
    return last.seq - at > most.behind ? 'behind' : undefined
  }

  const stopListening = feed.listen((found) => {
    if (found) last = found
    go()
  })

  async function sendSnapshot(why: Why): Promise<void> {
    const snapshot = await subscription.readSnapshot()
    if (isClosed) return
    const action = isInitial ? 'snapshot' : 'reset'
    isInitial = false
    wire.push({ type: 'notification', action, payload: { ...snapshot, why } })
    sent(action)
    ;[at, told, ownLog] = [snapshot.seq, snapshot.seq, snapshot.log]
    last = { seq: Math.max(last.log === ownLog ? last.seq : 0, at), log: ownLog }
    missing = undefined
  }

  /** Sends what fits. What was read and does not fit is read again later. */
  async function sendBatch(): Promise<'more' | 'all'> {
    const { events, seq } = await feed.readAfter(at)
    if (events.length > 0) await subscription.filter.ready()
    for (const followed of events) {
      if (isClosed || !wire.hasRoom()) return 'more'
      at = followed.stored.seq
      if (!subscription.filter.fits({ ...followed, uid: followed.stored.uid })) continue
      const event = eventView(followed)
      wire.push({ type: 'notification', action: 'task.event', payload: { ...event, prev: told } })
      sent('task.event')
      told = at
    }
    const isAll = seq === at && events.length === 0
    at = seq
    return isAll ? 'all' : 'more'
  }

  async function send(): Promise<void> {
    for (;;) {
      if (isClosed || !(await isLet())) return
      if (!wire.hasRoom()) {
        if (last.seq > at || missing) stalledAt ??= now()
        return
      }
      if (stalledAt !== undefined && now() - stalledAt > most.stalledMs) missing ??= 'behind'
      stalledAt = undefined
      missing ??= whyMissing()
      if (missing) await sendSnapshot(missing)
      else if ((await sendBatch()) === 'all') return
    }
  }

  async function run(): Promise<void> {
    isRunning = true
    try {
      do {
        isAgain = false
        await send()
      } while (isAgain)
    } catch (thrown) {
      if (!isClosed) failed(thrown)
    } finally {
      isRunning = false
    }
  }

  function go(): void {
    isAgain = true
    if (!isRunning && !isClosed) void run()
  }

  return {
    go,
    beat() {
      if (missing) return undefined
      const prev = told
      told = at
      return { seq: at, prev }
    },
    close() {
      isClosed = true
      stopListening()
    },
  }
}
