/** Times and durations, as records and settings have them. */
import type { Clock } from '../ports/clock.ts'

/** In milliseconds. */
export const day = 24 * 60 * 60 * 1000

/** The time that an event or an operation carries: `2026-05-04T09:30:00.000Z`. */
export function now({ clock }: { readonly clock: Clock }): string {
  return clock.now().toISOString()
}
