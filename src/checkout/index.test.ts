/** The permissions of a file that a landing writes. */
import { expect, test } from 'vitest'
import { permissions } from './index.ts'

test('P1: a file keeps who may read and write it; only whether it can be run follows the change', () => {
  expect(permissions(0o100600, '100644')).toBe(0o600)
  expect(permissions(0o100600, '100755')).toBe(0o700)
  expect(permissions(0o100750, '100755')).toBe(0o750)
  expect(permissions(0o100755, '100644')).toBe(0o644)
})
