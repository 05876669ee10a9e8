import { describe, expect, onTestFinished, test, vi } from 'vitest'
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

describe('D6: work that somebody may come back for', () => {
  /** Work that ends when it is cancelled, or when the test says so. */
  function setUp() {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const once = openOnce<string>(() => 0)
    const done = Promise.withResolvers<string>()
    let cancelled: unknown
    const work = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => {
        cancelled = signal.reason
        done.resolve('cancelled')
      })
      return done.promise
    }
    const ask = (leaves?: AbortSignal, cancels?: AbortSignal) =>
      once.answer({ scope: '', key: 'k', content: '', work, leaves, cancels })
    return { ask, done, cancelled: () => cancelled }
  }

  test('D6: nobody comes back: it is cancelled after ten seconds', async () => {
    const { ask, cancelled } = setUp()
    const client = new AbortController()
    const answer = ask(client.signal)
    client.abort()
    vi.advanceTimersByTime(9999)
    expect(cancelled()).toBeUndefined()
    vi.advanceTimersByTime(1)
    expect(cancelled()).toMatchObject({ problem: 'cancelled' })
    expect(await answer).toBe('cancelled')
  })

  test('D6: somebody comes back: it goes on', async () => {
    const { ask, done, cancelled } = setUp()
    const [first, second] = [new AbortController(), new AbortController()]
    const answers = [ask(first.signal)]
    first.abort()
    vi.advanceTimersByTime(9000)
    answers.push(ask(second.signal))
    vi.advanceTimersByTime(60_000)
    expect(cancelled()).toBeUndefined()
    done.resolve('done')
    expect(await Promise.all(answers)).toEqual(['done', 'done'])
    second.abort()
    vi.advanceTimersByTime(60_000)
    expect(cancelled()).toBeUndefined()
  })

  test('D6: of two who wait, one leaves: it goes on', () => {
    const { ask, cancelled } = setUp()
    const [first, second] = [new AbortController(), new AbortController()]
    void ask(first.signal)
    void ask(second.signal)
    first.abort()
    vi.advanceTimersByTime(60_000)
    expect(cancelled()).toBeUndefined()
    second.abort()
    vi.advanceTimersByTime(60_000)
    expect(cancelled()).toBeDefined()
  })

  test('D6: who changes their mind cancels at once, for whatever reason they give', () => {
    const { ask, cancelled } = setUp()
    const mind = new AbortController()
    void ask(undefined, mind.signal)
    mind.abort('why')
    expect(cancelled()).toBe('why')
  })

  test('D6: who had left before they asked counts as gone', () => {
    const { ask, cancelled } = setUp()
    void ask(AbortSignal.abort())
    vi.advanceTimersByTime(10_000)
    expect(cancelled()).toBeDefined()
  })
})
