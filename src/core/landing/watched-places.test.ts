import { describe, expect, test } from 'vitest'
import { areWritten, haveMoved } from './watched-places.ts'

const times = (of: Record<string, number | undefined>) => new Map(Object.entries(of))

describe('F7: a checkout or a target has changed', () => {
  test('F7: when a file was written, made or deleted', () => {
    const before = times({ a: 1, b: 2, none: undefined })
    expect(haveMoved(before, times({ a: 1, b: 2, none: undefined }))).toBe(false)
    expect(haveMoved(before, times({ a: 1, b: 3, none: undefined }))).toBe(true)
    expect(haveMoved(before, times({ a: 1, b: undefined, none: undefined }))).toBe(true)
    expect(haveMoved(before, times({ a: 1, b: 2, none: 3 }))).toBe(true)
  })

  test('F7: what was written while a forecast was made may not be in it', () => {
    const [begun, ended] = [new Date(1_000), new Date(1_100)]
    expect(areWritten(times({ a: 900, none: undefined }), begun, ended)).toBe(false)
    expect(areWritten(times({ a: 900, b: 1_001 }), begun, ended)).toBe(true)
    // The kernel gives a file the time of its last tick, which may be a little before.
    expect(areWritten(times({ b: 995 }), begun, ended)).toBe(true)
    // A time that somebody has set ahead would be a reason for ever.
    expect(areWritten(times({ b: 2_000 }), begun, ended)).toBe(false)
  })
})
