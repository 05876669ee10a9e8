import { expect, test } from 'vitest'
import { isOlder } from './older.ts'

test.each([
  ['0.1.0', '0.2.0', true],
  ['0.9.0', '0.10.0', true],
  ['1.0.0', '0.9.9', false],
  ['0.1.0', '0.1.0', false],
  ['0.2.0-rc.1', '0.2.0', true],
  ['0.2.0', '0.2.0-rc.1', false],
  ['', '0.0.1', true],
])('D17: %j is older than %j: %j', (one, other, expected) => {
  expect(isOlder(one, other)).toBe(expected)
})
