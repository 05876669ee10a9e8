import { expect, test } from 'vitest'
import { isBelow } from './below.ts'

test.each([
  ['/a/b', '/a/b', true],
  ['/a/b/c', '/a/b', true],
  ['/a/b/..x', '/a/b', true],
  ['/a/b/../c', '/a/b', false],
  ['/a/b/', '/a/b', true],
  ['/a/b', '/a/b/', true],
  ['/a/bc', '/a/b', false],
  ['/a', '/a/b', false],
  ['/', '/a', false],
  ['/a', '/', true],
  ['', '/', false],
  ['a', '/', false],
])('whether %s is below %s: %j', (file, folder, is) => {
  expect(isBelow(file, folder)).toBe(is)
})
