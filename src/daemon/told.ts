/** What a request tells while it goes on, for the client that asked: joined, at most twenty times a second, dropped for a slow one. */
import type { Emit } from '../api/views.ts'
import type { Told } from '../protocol/events.ts'
import type { Wire } from './wire.ts'

const everyMs = 50
/** In characters, of all that waits for the next time. */
const mostHeld = 256 * 1024

export interface ToldQueue {
  readonly emit: Emit
  /** Sends what is left, before the answer. */
  flush(): void
}

export function openTold(wire: Wire, request: string): ToldQueue {
  let held: Told[] = []
  let [size, dropped] = [0, 0]
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (held.length === 0) return
    const events = held
    ;[held, size] = [[], 0]
    if (!wire.isQuick()) return void (dropped += events.length)
    const payload = { request, events, ...(dropped > 0 && { dropped }) }
    dropped = 0
    wire.push({ type: 'notification', action: 'task.output', payload })
  }
  return {
    // Nobody answers here: what the agent asks waits for `task.answer`, and what is risky was asked for.
    emit(told) {
      const event = withoutInput(told)
      const length = 'text' in event ? event.text.length : 200
      if (size + length > mostHeld) return void (dropped += 1)
      size += length
      held = joined(held, event)
      timer ??= setTimeout(flush, everyMs)
      return undefined
    },
    flush,
  }
}

/** All that the tool would be given may hold secrets; `task.answer` shows it to whoever may answer. */
function withoutInput(told: Told): Told {
  if (told.event !== 'asked') return told
  const { input: _, ...rest } = told
  return rest
}

/** Text goes on in the event before, and of progress only the last counts. Pure. */
export function joined(events: readonly Told[], next: Told): Told[] {
  const before = events.slice(0, -1)
  const last = events.at(-1)
  if (last?.event === 'progress' && next.event === 'progress') return [...before, next]
  if (last?.event === 'output' && next.event === 'output' && last.stream === next.stream)
    return [...before, { ...next, text: last.text + next.text }]
  if (last?.event === 'message' && last.part && next.event === 'message')
    return [...before, { ...next, text: last.text + next.text }]
  return [...events, next]
}
