import { expect, test } from 'vitest'
import { fc } from '../../test/support/random.ts'
import { displayWidth } from './display-width.ts'

test.each([
  ['plain', 5],
  ['größer', 6],
  ['日本', 4],
  ['한국', 4],
  ['ｱｲ', 2],
  ['Ａ', 2],
  ['🚀', 2],
  ['❤️', 2],
  ['👍🏽', 2],
  ['🇩🇪', 2],
  ['e\u0301', 1],
  ['\u0301', 0],
  ['नि', 1],
  ['…', 1],
])('I1: %s takes %s columns', (text, width) => {
  expect(displayWidth(text)).toBe(width)
})

test('I1: ASCII takes a column for each character, so it need not be measured', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ -~]*$/), (text) => {
      expect(displayWidth(text)).toBe(text.length)
    }),
  )
})
