import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { quickFolder } from '../../../test/support/repo.ts'
import { sqliteStores } from '../../store/sqlite.ts'
import type { Task } from '../model/task.ts'
import type { Store } from '../ports/store.ts'
import { type Feed, type LogEnd, nameLog, openFeed } from './follow.ts'
import { append, appendAll } from './records.ts'

const at = '2026-11-15T18:01:02.000Z'
const owner = { pid: 1, startedAt: '1', boot: 'b' }
const ids = { uid: () => 'log-1', secret: () => '' }

const task: Task = {
  uid: 'u1',
  id: 'T1',
  repo: 'r1',
  title: '',
  state: 'pending',
  isolation: 'worktree',
  path: '/work/u1',
  branch: 'offshoot/T1',
  adopted: false,
  base: { branch: 'main', commit: 'c'.repeat(40) },
  origin: '/shop',
  head: 'c'.repeat(40),
  checkpoints: 0,
  files: 0,
  insertions: 0,
  deletions: 0,
  runs: 0,
  createdAt: at,
  lastActiveAt: at,
}

/** A log in a real store, which tells how often it is read. */
async function setUp() {
  const stores = sqliteStores(path.join(quickFolder(), 'state.db'))
  onTestFinished(() => stores.close())
  const counts = { readEvents: 0, readPosition: 0 }
  const store: Store = {
    ...stores.store,
    readEvents: (options) => (counts.readEvents++, stores.store.readEvents(options)),
    readPosition: (uids) => (counts.readPosition++, stores.store.readPosition(uids)),
  }
  const records = { store, notes: stores.notes }
  const writer = { store: stores.store, processes: { self: () => owner } }
  await stores.repos.put({ id: 'r1', name: 'shop', commonDir: '/shop/.git', mark: 'm', addedAt: at })
  await append(writer, 'u1', { type: 'start.begun', task, owner }, at)
  return {
    counts,
    records,
    async grow(by: number) {
      const event = { uid: 'u1', event: { type: 'recreate.done' } } as const
      await appendAll(
        writer,
        Array.from({ length: by }, () => event),
        at,
      )
    },
  }
}

async function readAll(feed: Feed, after = 0): Promise<number[]> {
  const found: number[] = []
  for (let seq = after; ; ) {
    const batch = await feed.readAfter(seq)
    found.push(...batch.events.map(({ stored }) => stored.seq))
    if (batch.seq === seq) return found
    seq = batch.seq
  }
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, n) => first + n)

test('D11: any cursor gets every event after it once, in order, wherever others are', async () => {
  const { records, grow } = await setUp()
  const feed = openFeed(records, 1000)
  await grow(1199)
  expect(await readAll(feed, 1100)).toEqual(upTo(1200, 1101))
  expect(await readAll(feed)).toEqual(upTo(1200))
  await grow(20)
  expect(await readAll(feed, 1200)).toEqual(upTo(1220, 1201))
  for (const from of [0, 1, 499, 500, 501, 1000, 1099, 1100, 1199, 1210, 1219, 1220])
    expect(await readAll(feed, from)).toEqual(upTo(1220, from + 1))
  expect((await feed.readAfter(1219)).events).toMatchObject([{ task: 'T1', repo: 'r1' }])
})

test('D11: followers at the end of the log share one read, and a late one gets it from memory', async () => {
  const { records, counts, grow } = await setUp()
  const feed = openFeed(records, 1000)
  await grow(9)
  const read = await Promise.all(Array.from({ length: 200 }, () => feed.readAfter(0)))
  expect(new Set(read.map(({ seq }) => seq))).toEqual(new Set([10]))
  expect(counts.readEvents).toBe(1)
  expect((await feed.readAfter(4)).events.map(({ stored }) => stored.seq)).toEqual(upTo(10, 5))
  expect(counts.readEvents).toBe(1)
})

test('D11: a follower that is far behind does not push out what those at the end read', async () => {
  const { records, counts, grow } = await setUp()
  const feed = openFeed(records, 1000)
  await grow(1499)
  await feed.readAfter(1490)
  await readAll(feed)
  const before = counts.readEvents
  await feed.readAfter(1490)
  expect(counts.readEvents).toBe(before)
})

test('D11: what is kept is bounded', async () => {
  const { records, counts, grow } = await setUp()
  const feed = openFeed(records, 1000)
  await readAll(feed)
  for (let round = 0; round < 30; round++) {
    await grow(100)
    await readAll(feed, 1 + round * 100)
  }
  const before = counts.readEvents
  await feed.readAfter(2500)
  expect(counts.readEvents).toBe(before)
  await feed.readAfter(500)
  expect(counts.readEvents).toBe(before + 1)
})

/** The next that a listener is told. */
const next = (feed: Feed) =>
  new Promise<LogEnd | undefined>((resolve) => {
    const stop = feed.listen((end) => {
      stop()
      resolve(end)
    })
  })

test('D11: the store is looked at while somebody listens, and not otherwise', async () => {
  const { records, counts, grow } = await setUp()
  await nameLog({ notes: records.notes, ids })
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const feed = openFeed(records, 25)
  await grow(2)
  expect([counts.readPosition, vi.getTimerCount()]).toEqual([0, 0])
  const told = next(feed)
  await vi.advanceTimersByTimeAsync(25)
  expect(await told).toEqual({ seq: 3, log: 'log-1' })
  expect(vi.getTimerCount()).toBe(0)
  const stops = [feed.listen(() => {}), feed.listen(() => {})]
  await vi.advanceTimersByTimeAsync(250)
  expect(vi.getTimerCount()).toBe(1)
  stops[0]?.()
  expect(vi.getTimerCount()).toBe(1)
  stops[1]?.()
  expect(vi.getTimerCount()).toBe(0)
})

test('D11: who is woken need not wait', async () => {
  const { records, grow } = await setUp()
  const feed = openFeed(records, 1_000_000)
  const told = next(feed)
  await grow(1)
  feed.wake()
  expect(await told).toMatchObject({ seq: 2 })
})

test('D11: a store that cannot be read is told, and looked at again', async () => {
  const { records, grow } = await setUp()
  const { readPosition } = records.store
  let isBroken = true
  const store = {
    ...records.store,
    readPosition: (uids?: readonly string[]) =>
      isBroken ? Promise.reject(new Error('x')) : readPosition(uids),
  }
  const feed = openFeed({ ...records, store }, 5)
  const heard: (LogEnd | undefined)[] = []
  await new Promise<void>((resolve) => {
    const stop = feed.listen((end) => {
      heard.push(end)
      isBroken = false
      if (!end) return
      stop()
      resolve()
    })
    void grow(1)
  })
  expect(heard[0]).toBeUndefined()
  expect(heard.at(-1)).toMatchObject({ seq: expect.any(Number) })
})
