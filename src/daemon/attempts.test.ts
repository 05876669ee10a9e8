import { expect, test } from 'vitest'
import { openAttempts } from './attempts.ts'

test('D2: twenty wrong tokens within a minute are the last for that id, and for no other', () => {
  let now = 0
  const attempts = openAttempts(() => now)
  for (let n = 0; n < 19; n++) attempts.note('a')
  expect(attempts.limited()).toEqual(new Set())
  attempts.note('a')
  attempts.note('b')
  expect(attempts.limited()).toEqual(new Set(['a']))
  now = 60_000
  expect(attempts.limited()).toEqual(new Set())
})
