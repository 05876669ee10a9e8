import { expect, test } from 'vitest'
import { costText, durationText, spentText, tokensText } from './spent.ts'

test.each([
  [0.4, '0 s'],
  [59.6, '1 min 0 s'],
  [65, '1 min 5 s'],
  [3600, '1 h 0 min'],
  [7384, '2 h 3 min'],
])('G19: %s seconds are %s', (seconds, words) => expect(durationText(seconds)).toBe(words))

test.each([
  [0, '$0.00'],
  [0.00028, '$0.0003'],
  [0.0456, '$0.0456'],
  [0.5, '$0.50'],
  [12.345, '$12.35'],
])('G19: %s dollars are %s', (dollars, words) => expect(costText(dollars)).toBe(words))

test.each([
  [0, 0, ''],
  [9000, 999, '9,999'],
  [12_345, 678, '13k'],
  [1_250_000, 0, '1.3M'],
])('G19: %s tokens in and %s out are %s', (inputTokens, outputTokens, words) =>
  expect(tokensText({ inputTokens, outputTokens })).toBe(words),
)

test('G19: what nobody told is left out', () => {
  const used = { inputTokens: 12_345, outputTokens: 678 }
  expect(spentText({ seconds: 5, ...used, cachedTokens: 9000, costUsd: 0.04 })).toBe(
    '5 s, 12,345 tokens in (9,000 cached), 678 out, $0.0400',
  )
  expect(spentText(used)).toBe('12,345 tokens in, 678 out')
  expect(spentText({ seconds: 5, inputTokens: 0, outputTokens: 0 })).toBe('5 s')
  expect(spentText({})).toBe('')
})
