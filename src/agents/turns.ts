/** Makes tool calls run one after the other that an agent would run at the same time. */
import { setTimeout as pause } from 'node:timers/promises'

export interface Turns {
  /** Waits for the calls before it; the returned function lets the next one go, and may be called twice. */
  acquire(): Promise<() => void>
  /** Waits in the same way, without making later calls wait. */
  pass(): Promise<void>
}

/** After `limitMs` a call counts as done, since not every agent reports the end of a call. */
export function turns(limitMs: number): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return {
    async acquire() {
      const before = last
      let done = () => {}
      const over = new Promise<void>((resolve) => (done = resolve))
      last = before.then(() => Promise.race([over, pause(limitMs, undefined, { ref: false })]))
      await before
      return done
    },
    pass: () => last.then(() => {}),
  }
}
