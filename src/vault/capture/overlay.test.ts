/** The overlay's file: any path survives it, and a cut-off or foreign one is not believed. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fromBytes } from '../../core/model/bytes.ts'
import { appendOverlay, settledLook, overlayLine, readOverlay, type Seen } from './overlay.ts'

function file(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'offshoot-overlay-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return path.join(folder, 'overlay')
}

const leaf = { mode: '100644', oid: 'a'.repeat(40) } as const

test('K5: paths of any bytes come back as they were', async () => {
  const at = file()
  const name = fromBytes(Buffer.from([0xff, 0x0a, 0x22, 0x5c, 0x80, 0xc3, 0xa9]))
  await appendOverlay(at, overlayLine('one', new Map<string, Seen>([[name, { leaf, look: '1,2' }]])))
  await appendOverlay(at, overlayLine('two', new Map<string, Seen>([['b', { leaf: null, look: undefined }]])))
  expect((await readOverlay(at, 'two'))?.seen).toEqual(
    new Map<string, Seen>([
      [name, { leaf, look: '1,2' }],
      ['b', { leaf: null, look: undefined }],
    ]),
  )
  expect(readFileSync(at).every((byte) => byte < 0x80)).toBe(true)
})

test('P2: one that ends at another step, or in the middle of a line, is none', async () => {
  const at = file()
  await appendOverlay(at, overlayLine('one', new Map()))
  expect(await readOverlay(at, 'two')).toBeUndefined()
  appendFileSync(at, '["two",[["a","100644')
  expect(await readOverlay(at, 'one')).toBeUndefined()
  expect(await readOverlay(at, 'two')).toBeUndefined()
  expect(await readOverlay(`${at}.not-there`, 'one')).toBeUndefined()
})

test('K5: a file that was written just now has no look that could be trusted', async () => {
  const at = file()
  writeFileSync(at, 'x')
  const { lstat } = await import('node:fs/promises')
  const stat = await lstat(at, { bigint: true })
  const now = BigInt(Date.now()) * 1_000_000n
  expect(settledLook(stat, now)).toBeUndefined()
  expect(settledLook(stat, now + 5_000_000_000n)).toMatch(/^\d+,1,/)
})
