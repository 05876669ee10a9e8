import { expect, test } from 'vitest'
import { indexLines, permissions } from './checkout.ts'

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

test('P1: a file keeps who may read and write it; only whether it can be run follows the change', () => {
  expect(permissions(0o100600, '100644')).toBe(0o600)
  expect(permissions(0o100600, '100755')).toBe(0o700)
  expect(permissions(0o100750, '100755')).toBe(0o750)
  expect(permissions(0o100755, '100644')).toBe(0o644)
})
