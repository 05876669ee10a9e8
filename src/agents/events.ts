/** Turns pushed events into an async iterator. */
import type { AgentEvent } from '../core/model/agent.ts'

export type Push = (event: AgentEvent) => void

/**
 * Yields the events that `work` pushes. If the consumer stops, the work is cancelled, and has ended before the
 * consumer's loop goes on.
 */
export async function* events(
  signal: AbortSignal,
  work: (push: Push, signal: AbortSignal) => Promise<void>,
): AsyncGenerator<AgentEvent> {
  const left = new AbortController()
  const waiting: AgentEvent[] = []
  let wake = () => {}
  let over = false
  const push: Push = (event) => {
    waiting.push(event)
    wake()
  }
  const working = work(push, AbortSignal.any([signal, left.signal])).finally(() => {
    over = true
    wake()
  })
  working.catch(() => {})
  try {
    for (;;) {
      const next = waiting.shift()
      if (next) yield next
      else if (over) return await working
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    left.abort()
    await working.catch(() => {})
  }
}
