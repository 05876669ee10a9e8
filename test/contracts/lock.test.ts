import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteLocks } from '../../src/lock/sqlite.ts'
import { lockContract } from './lock.contract.ts'

const open = (folder: string) =>
  sqliteLocks(folder, () => ({ pid: process.pid, startedAt: '1', boot: 'b' }), { now: () => new Date() })

lockContract({
  name: 'sqlite',
  open,
  module: new URL('../../src/lock/sqlite.ts', import.meta.url),
  factory: 'sqliteLocks',
})

test('an sqlite lock is one empty file, and a note of its holder as long as it is held', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'offshoot-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const locks = open(folder)
  await locks.hold('repo/app', { verb: 'start' }, async () => {
    const [lock, holder, ...more] = readdirSync(folder).sort()
    expect(lock).toMatch(/^repo-app-[0-9a-f]{24}\.lock$/)
    expect(statSync(path.join(folder, lock!)).size).toBe(0)
    expect(holder).toBe(`${lock}.holder`)
    expect(more).toEqual([])
  })
  expect(readdirSync(folder)).toHaveLength(1)
})
