import { expect, test } from 'vitest'
import { sizeText } from '../model/disk-use.ts'

test.each([
  [0, '0 B'],
  [1, '1 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1536 * 1024, '1.5 MiB'],
  [250 * 2 ** 20, '250 MiB'],
  [3 * 2 ** 40, '3.0 TiB'],
  [5000 * 2 ** 40, '5000 TiB'],
])('I9: %d bytes are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
