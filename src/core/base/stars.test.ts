import { expect, test } from 'vitest'
import { isMadeOf, matchesStars } from './stars.ts'

test.each([
  ['a', 'a', true],
  ['a', 'ab', false],
  ['', '', true],
  ['*', '', true],
  ['a*', 'a', true],
  ['*a', 'ba', true],
  ['*a', 'ab', false],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['a**b', 'a\n/b', true],
  ['ab*ba', 'aba', false],
  ['a*b*c', 'a-c-b', false],
  ['a*b*b', 'ab', false],
  ['*b*', 'abc', true],
  ['a.c', 'abc', false],
])('whether %j matches %j: %j', (pattern, text, is) => {
  expect(matchesStars(pattern, text)).toBe(is)
})

test('a star that is a part is itself', () => {
  expect(isMadeOf(['a*', 'c'], 'abc')).toBe(false)
  expect(isMadeOf(['a*', 'c'], 'a*bc')).toBe(true)
})

test.each(['*git*push*origin*', '*a*a*a*b', 'g*g*g*g*!'])('%s takes linear time', (pattern) => {
  for (const text of ['git'.repeat(350_000), 'git push '.repeat(120_000), 'a'.repeat(1_000_000)]) {
    const before = process.cpuUsage()
    matchesStars(pattern, text)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(50)
  }
})
