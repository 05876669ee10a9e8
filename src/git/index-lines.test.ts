/** The lines that `git update-index --index-info` reads. */
import { expect, test } from 'vitest'
import { indexLines } from './index-lines.ts'

const leaf = (digit: string, length = 40) => ({ mode: '100755', oid: digit.repeat(length) }) as const

test('entries of an index are told to git byte by byte, deletions with mode 0 and before the rest', () => {
  const lines = indexLines([
    { path: 'a\nb', from: null, to: leaf('c') },
    { path: '\xff', from: leaf('d'), to: null },
  ])
  expect(lines.toString('latin1')).toBe(`0 ${'0'.repeat(40)}\t\xff\0` + `100755 ${'c'.repeat(40)}\ta\nb\0`)
})

test('L10: with SHA-256 a deletion is told with as many zeros as an id has digits', () => {
  const lines = indexLines([{ path: 'a', from: leaf('d', 64), to: null }])
  expect(lines.toString()).toBe(`0 ${'0'.repeat(64)}\ta\0`)
})
