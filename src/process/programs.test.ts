import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findProgram, withoutRelative } from './programs.ts'

test.each([
  ['/usr/bin:/bin', '/usr/bin:/bin'],
  ['./bin:/usr/bin::node_modules/.bin:/bin:', '/usr/bin:/bin'],
  ['.', '/dev/null'],
  ['', '/dev/null'],
])('M1: of the PATH %j a child gets %j', (before, after) => {
  expect(withoutRelative({ PATH: before, A: '1' })).toEqual({ PATH: after, A: '1' })
})

test('M1: an environment without PATH stays without one', () => {
  expect(withoutRelative({ A: '1' })).toEqual({ A: '1' })
})

test('M1: a program is found by its path and in absolute folders, not in relative ones', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'offshoot-programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'tool')
  writeFileSync(file, '')
  chmodSync(file, 0o755)
  expect(findProgram('tool', folder, folder)).toBe(file)
  expect(findProgram('./tool', folder, '')).toBe(file)
  for (const relative of ['.', '', './', ':']) expect(findProgram('tool', folder, relative)).toBeUndefined()
})
