/** Times and durations, as records and settings have them. */
import type { Clock } from '../ports/clock.ts'
import { counted } from './counted.ts'

/** In milliseconds. */
export const day = 24 * 60 * 60 * 1000

/** The time that an event or an operation carries: `2026-05-04T09:30:00.000Z`. */
export function now({ clock }: { readonly clock: Clock }): string {
  return clock.now().toISOString()
}

/** `9 days`, `1 hour`, `3 minutes`. */
export function ageText(ms: number): string {
  const hours = Math.round(ms / (day / 24))
  if (hours >= 48) return counted(Math.round(hours / 24), 'day')
  return hours > 0 ? counted(hours, 'hour') : counted(Math.round(ms / 60_000), 'minute')
}

const durations = { s: 1000, m: 60_000, h: 3_600_000 }

/** `30s`, `10m` or `2h` in milliseconds; undefined for any other text. */
export function findDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([smh])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * durations[unit as keyof typeof durations]
}
