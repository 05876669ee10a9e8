import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { allEnded, limiter } from './concurrency.ts'

test('P2: a failure is told when the others have ended, not before', async () => {
  const slow = Promise.withResolvers<string>()
  let told = false
  const both = allEnded([Promise.reject(new Error('first')), slow.promise]).catch((error: unknown) => {
    told = true
    return error
  })
  await turn()
  expect(told).toBe(false)
  slow.resolve('second')
  expect(await both).toEqual(new Error('first'))
})

test('P2: without a failure, every answer is there in its place', async () => {
  expect(await allEnded([Promise.resolve(1), Promise.resolve('two')])).toEqual([1, 'two'])
})

/** Works that end when they are told to. */
function works(count: number) {
  const started: number[] = []
  const ends: (() => void)[] = []
  const all = Array.from({ length: count }, (_, n) => () => {
    started.push(n)
    return new Promise<number>((resolve) => (ends[n] = () => resolve(n)))
  })
  return { all, started, end: (n: number) => ends[n]?.() }
}

describe('slots', () => {
  test('S2: no more than so many run at once, first come first served', async () => {
    const slot = limiter(2)
    const { all, started, end } = works(4)
    const running = all.map((work) => slot(work))
    await Promise.resolve()
    expect(started).toEqual([0, 1])
    end(1)
    await running[1]
    expect(started).toEqual([0, 1, 2])
    end(0)
    end(2)
    await Promise.all([running[0], running[2]])
    expect(started).toEqual([0, 1, 2, 3])
    end(3)
    expect(await Promise.all(running)).toEqual([0, 1, 2, 3])
  })

  test('S2: one that fails gives its place to the next', async () => {
    const slot = limiter(1)
    const failing = slot(() => Promise.reject(new Error('no')))
    const next = slot(async () => 'next')
    await expect(failing).rejects.toThrow('no')
    expect(await next).toBe('next')
    expect(await slot(async () => 'later')).toBe('later')
  })

  test('S3: one that is cancelled while it waits never starts, and takes no place', async () => {
    const slot = limiter(1)
    const { all, started, end } = works(1)
    const first = slot(all[0]!)
    const cancel = new AbortController()
    const second = slot(async () => started.push(99), cancel.signal)
    const third = slot(async () => 'third')
    cancel.abort()
    end(0)
    await first
    await expect(second).rejects.toMatchObject({ name: 'AbortError' })
    expect(await third).toBe('third')
    expect(started).toEqual([0])
  })
})
