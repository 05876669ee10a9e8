/** Reads the ages and dates that options take: `3d`, `12h`, `2026-11-15`. */
import { AppError } from '../core/model/errors.ts'

const units = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** `3d`, `12h`, `30m`, `2w` in milliseconds. The error names the option that the age was given to. */
export function ageMs(age: string, option: string): number {
  const ms = findAge(age)
  if (ms !== undefined) return ms
  throw new AppError('wrongUsage', `${option} takes an age, not ${JSON.stringify(age)}.`, {
    hint: `Write it as 30m, 12h, 3d or 2w: ${option} 3d`,
  })
}

/** The moment that an age or a date names, as an ISO time. The error names the option that it was given to. */
export function moment(text: string, now: Date, option: string): string {
  const age = findAge(text)
  const at = age === undefined ? dateMs(text) : now.getTime() - age
  if (!Number.isNaN(at)) return new Date(at).toISOString()
  throw new AppError('wrongUsage', `${option} takes an age or a date, not ${JSON.stringify(text)}.`, {
    hint: `Write it as 12h, 3d or 2026-11-15: ${option} 3d`,
  })
}

/** NaN for 2026-02-30: `Date.parse` would read a day that the month lacks as a day of the next month. */
function dateMs(text: string): number {
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? []
  const isDay = day === undefined || new Date(Date.parse(day) || 0).toISOString().startsWith(day)
  return isDay ? Date.parse(text) : Number.NaN
}

function findAge(age: string): number | undefined {
  const [, count, unit] = /^(\d+)([mhdw])$/.exec(age) ?? []
  return count === undefined ? undefined : Number(count) * units[unit as keyof typeof units]
}
