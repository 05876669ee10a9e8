/** What a connection may still be sent: the client decides how fast, and what it has not taken yet is bounded. */
import type { Outgoing } from '../protocol/envelope.ts'

/** In bytes that the client has not taken yet: above the first no more events are sent, above the second no output. */
const most = { waiting: 1024 * 1024, forOutput: 256 * 1024 }

export interface Wire {
  push(message: Outgoing): void
  /** Whether the client keeps up, so that it may be sent events. */
  hasRoom(): boolean
  /** Whether it keeps up so well that it may be sent output, which nobody needs. */
  isQuick(): boolean
}

export function openWire(send: (text: string) => void, readWaiting: () => number): Wire {
  return {
    push: (message) => send(JSON.stringify(message)),
    hasRoom: () => readWaiting() < most.waiting,
    isQuick: () => readWaiting() < most.forOutput,
  }
}
