/** One after the other, for tools that an agent would run at the same time. */
import { setTimeout as pause } from 'node:timers/promises'

export interface Turns {
  /** Waits for whoever is at it; the answer lets the next one go, and may be called twice. */
  take(): Promise<() => void>
  /** Waits in the same way, and keeps nobody waiting. */
  pass(): Promise<void>
}

/** Whoever has not said within `limitMs` that it is done is not waited for any longer: not every agent tells. */
export function turns(limitMs: number): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return {
    async take() {
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
