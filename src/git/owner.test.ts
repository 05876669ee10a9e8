/** Whose files are one's own: git's rule. */
import { expect, test } from 'vitest'
import { isOwn } from './owner.ts'

test.each([
  [1000, 1000, undefined, true],
  [1001, 1000, undefined, false],
  [0, 1000, undefined, false],
  [1001, 1000, '1001', false],
  [0, 0, '1000', true],
  [1000, 0, '1000', true],
  [1001, 0, '1000', false],
  [1000, 0, undefined, false],
  [0, 0, 'x', true],
  [1000, 0, '1000x', false],
])('S1: of %i, for the user %i whom sudo knows as %s: %s', (owner, uid, sudo, own) => {
  expect(isOwn(owner, uid, sudo)).toBe(own)
})
