import { expect, test } from 'vitest'
import { stepRange } from '../steps/history.ts'

test.each([
  [undefined, 4, [0, 4]],
  [undefined, -1, [0, 0]],
  ['3', 4, [2, 3]],
  ['1', 4, [0, 1]],
  ['2..4', 4, [2, 4]],
  ['0..1', 4, [0, 1]],
] as const)('K6: --step %s of %i steps is the range %j', (text, last, range) => {
  expect(stepRange(text, last)).toEqual(range)
})

test.each(['', '0', '-1', 'x', '1..', '..2', '1...2', '1.5'])('K6: --step %j is refused', (text) => {
  expect(() => stepRange(text, 4)).toThrow(expect.objectContaining({ code: 'WT_019' }))
})
