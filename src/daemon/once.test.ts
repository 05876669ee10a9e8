import { expect, test } from 'vitest'
import { openOnce } from './once.ts'

test('D6: a retry with the same key gets the first answer, for ten minutes', async () => {
  let now = 0
  let done = 0
  const once = openOnce<number>(() => now)
  const ask = (key: string, content = 'x', scope = 'me') =>
    once.answer({ scope, key, content, work: async () => ++done })
  expect(await Promise.all([ask('k'), ask('k')])).toEqual([1, 1])
  expect(await ask('k')).toBe(1)
  expect(await ask('k', 'x', 'you')).toBe(2)
  expect(await ask('other')).toBe(3)
  await expect(ask('k', 'y')).rejects.toMatchObject({ code: 'WT_019' })
  await expect(ask('')).rejects.toMatchObject({ code: 'WT_019' })
  now = 10 * 60_000
  expect(await ask('k')).toBe(4)
})

test('D6: many keys do not fill the memory', async () => {
  const once = openOnce<number>(() => 0)
  const ask = (key: string, n: number) => once.answer({ scope: '', key, content: '', work: async () => n })
  for (let n = 0; n < 1500; n++) await ask(`k${n}`, n)
  expect(await ask('k1499', -1)).toBe(1499)
  expect(await ask('k0', -1)).toBe(-1)
})
