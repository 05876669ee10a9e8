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

test('D6: work under way keeps its key, however long it takes and whatever else is asked, and ten minutes more', async () => {
  let now = 0
  const once = openOnce<string>(() => now)
  const ask = (key: string, work: () => Promise<string>) => once.answer({ scope: '', key, content: '', work })
  const agent = Promise.withResolvers<string>()
  const first = ask('long', () => agent.promise)
  now = 60 * 60_000
  for (let n = 0; n < 1500; n++) await ask(`k${n}`, async () => '')
  const again = ask('long', async () => 'a second time')
  agent.resolve('once')
  expect(await Promise.all([first, again])).toEqual(['once', 'once'])
  now += 10 * 60_000 - 1
  expect(await ask('long', async () => 'a second time')).toBe('once')
  now += 1
  expect(await ask('long', async () => 'a second time')).toBe('a second time')
})

test('D6: a failure is kept as well', async () => {
  const once = openOnce<string>(() => 0)
  const ask = (work: () => Promise<string>) => once.answer({ scope: '', key: 'k', content: '', work })
  await expect(ask(async () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await expect(ask(async () => 'yes')).rejects.toThrow('no')
})

test('D6: many keys do not fill the memory', async () => {
  const once = openOnce<number>(() => 0)
  const ask = (key: string, n: number) => once.answer({ scope: '', key, content: '', work: async () => n })
  for (let n = 0; n < 1500; n++) await ask(`k${n}`, n)
  expect(await ask('k1499', -1)).toBe(1499)
  expect(await ask('k0', -1)).toBe(-1)
})
