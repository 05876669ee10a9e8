import { expect, test } from 'vitest'
import { indexLines } from './index-lines.ts'

test('entries of an index are told to git byte by byte, a deletion with mode 0', () => {
  const oid = 'c'.repeat(40)
  const lines = indexLines([
    { path: 'a\nb', to: { mode: '100755', oid } },
    { path: '\xff', to: null },
  ])
  expect(lines.toString('latin1')).toBe(`100755 ${oid}\ta\nb\0` + `0 ${'0'.repeat(40)}\t\xff\0`)
})
