import type { Clock } from '../../src/core/ports/clock.ts'

const day = 86_400_000

/** The clock of a library under test, which a test sets some days ahead of the system's. */
export interface TestClock extends Clock {
  setAhead(days: number): void
}

export function testClock(days = 0): TestClock {
  let ahead = days
  return {
    now: () => new Date(Date.now() + ahead * day),
    setAhead: (by) => {
      ahead = by
    },
  }
}
