import { expect, test } from 'vitest'
import { openCodes } from './codes.ts'

test('D4: a code is valid once, and for a minute', () => {
  let now = 0
  const codes = openCodes(() => now)
  const [first, second] = [codes.make(), codes.make()]
  expect(codes.redeem('x')).toBe(false)
  expect(codes.redeem(first)).toBe(true)
  expect(codes.redeem(first)).toBe(false)
  now = 60_000
  expect(codes.redeem(second)).toBe(false)
})

test('D4: of many codes only the last are kept', () => {
  const codes = openCodes(() => 0)
  const made = Array.from({ length: 17 }, () => codes.make())
  expect(made.map((code) => codes.redeem(code))).toEqual([false, ...Array.from({ length: 16 }, () => true)])
})
