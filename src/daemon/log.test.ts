import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
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

test('D7: a log that cannot be renamed closes no file of anybody else, and goes on when it can', () => {
  const file = path.join(tempFolder(), 'daemon.log')
  const { log, close } = openLog(file)
  mkdirSync(`${file}.1/full`, { recursive: true })
  for (let n = 0; n < 54; n++) log.info({ text: 'x'.repeat(100_000) }, 'long')
  const others = [1, 2].map((n) => openSync(`${file}.${n}.other`, 'w'))
  log.info('once more')
  log.info('and again')
  for (const other of others) expect(writeSync(other, 'mine')).toBe(4)
  rmSync(`${file}.1`, { recursive: true })
  log.info('last')
  close()
  for (const other of others) closeSync(other)
  expect(statSync(`${file}.1`).size).toBeGreaterThan(5_000_000)
  expect(readFileSync(file, 'utf8')).toContain('"last"')
})
