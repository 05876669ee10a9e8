import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../test/support/repo.ts'
import { openLog } from './log.ts'

test('D7: the log is private, holds no token, and is cut by its size', () => {
  const file = path.join(tempFolder(), 'daemon.log')
  const heard: string[] = []
  const { log, close } = openLog(file, (line) => heard.push(line))
  const token = `offshoot_aaaaaaaa_${'b'.repeat(43)}`
  log.info({ token, deep: { authorization: `Bearer ${token}` } }, `said ${token}`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).not.toContain('bbbbb')
  expect(JSON.parse(heard[0] ?? '')).toMatchObject({ token: '[Redacted]', msg: 'said ***' })
  for (let n = 0; n < 60; n++) log.info({ text: 'x'.repeat(100_000) }, 'long')
  close()
  expect(existsSync(`${file}.1`)).toBe(true)
  expect(statSync(`${file}.1`).size + statSync(file).size).toBeGreaterThan(6_000_000)
  expect(statSync(file).size).toBeLessThan(5_300_000)
})
