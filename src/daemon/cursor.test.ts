import { expect, test } from 'vitest'
import type { Batch, LogEnd } from '../core/tasks/follow.ts'
import type { Notification, Outgoing, SubscribeInput } from '../protocol/envelope.ts'
import { openCursor } from './cursor.ts'

/** A log in memory, and a client that takes messages when the test lets it. */
function setUp(input: SubscribeInput, about: { length?: number; log?: string } = {}) {
  const world = {
    length: about.length ?? 0,
    log: about.log ?? 'log',
    time: 0,
    room: Number.POSITIVE_INFINITY,
  }
  const heard: Notification[] = []
  const listeners = new Set<(end?: LogEnd) => void>()
  const end = () => ({ seq: world.length, log: world.log })
  const followed = (seq: number) => ({
    stored: { seq, uid: `u${seq % 3}`, n: 1, at: '', event: { type: 'start.done' as const } },
    task: `T${seq % 3}`,
    repo: 'r',
  })
  let reads = 0
  const feed = {
    readEnd: async () => end(),
    async readAfter(after: number): Promise<Batch> {
      reads += 1
      const to = Math.min(world.length, after + 5)
      return {
        events: Array.from({ length: Math.max(0, to - after) }, (_, n) => followed(after + 1 + n)),
        seq: Math.max(to, after),
      }
    },
    listen(more: (end?: LogEnd) => void) {
      listeners.add(more)
      return () => void listeners.delete(more)
    },
    wake: () => {},
  }
  const wanted = input.tasks && new Set(input.tasks)
  const subscription = {
    filter: {
      ready: async () => {},
      fits: ({ task }: { task: string }) => wanted?.has(task) ?? true,
      fitsRepo: () => true,
    },
    readSnapshot: async () => ({ ...end(), repos: [], tasks: [] }),
  }
  const wire = {
    push(message: Outgoing) {
      world.room -= 1
      heard.push(message as Notification)
    },
    hasRoom: () => world.room > 0,
    isQuick: () => true,
  }
  const failures: unknown[] = []
  let isLet = true
  const cursor = openCursor(
    {
      feed,
      subscription,
      wire,
      now: () => world.time,
      failed: (thrown) => void failures.push(thrown),
      isLet: async () => isLet,
      sent: () => {},
    },
    end(),
    input,
  )
  const settle = async () => {
    for (let turn = 0; turn < 500; turn++) await Promise.resolve()
  }
  return {
    world,
    heard,
    cursor,
    failures,
    listeners,
    feed,
    readCount: () => reads,
    forbid: () => void (isLet = false),
    settle,
    async grow(by: number) {
      world.length += by
      for (const listener of listeners) listener(end())
      await settle()
    },
    events: () => heard.flatMap((one) => (one.action === 'task.event' ? [one.payload.seq] : [])),
  }
}

/** Every event follows the one before: a client can prove that it misses none. */
function expectUnbroken(heard: readonly Notification[], since: number) {
  let last = since
  for (const { action, payload } of heard) {
    if (action === 'snapshot' || action === 'reset') last = payload.seq
    if (action !== 'task.event') continue
    expect(payload.prev).toBe(last)
    expect(payload.seq).toBeGreaterThan(last)
    last = payload.seq
  }
}

test('D11: without since a snapshot comes first, then each event once, in order', async () => {
  const { cursor, heard, settle, grow, events } = setUp({}, { length: 7 })
  cursor.go()
  await settle()
  expect(heard).toMatchObject([{ action: 'snapshot', payload: { seq: 7, log: 'log', why: 'new' } }])
  await grow(3)
  await grow(12)
  expect(events()).toEqual([8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22])
  expectUnbroken(heard, 7)
})

test('D11: with since exactly the events after it come', async () => {
  const { cursor, heard, settle, events } = setUp({ since: 3 }, { length: 8 })
  cursor.go()
  await settle()
  expect(events()).toEqual([4, 5, 6, 7, 8])
  expectUnbroken(heard, 3)
})

test('D11: of a filter prev is the last event that was sent, and a sign of life moves it on', async () => {
  const { cursor, heard, settle, grow } = setUp({ since: 0, tasks: ['T0'] }, { length: 8 })
  cursor.go()
  await settle()
  expect(
    heard.map(({ payload }) => [(payload as { prev: number }).prev, (payload as { seq: number }).seq]),
  ).toEqual([
    [0, 3],
    [3, 6],
  ])
  expect(cursor.beat()).toEqual({ seq: 8, prev: 6 })
  await grow(1)
  expect(heard.at(-1)?.payload).toMatchObject({ prev: 8, seq: 9 })
})

test('D11: a client that takes nothing is read for no more, and goes on where it was', async () => {
  const { world, cursor, heard, settle, grow, events, readCount } = setUp({ since: 0 }, { length: 100 })
  world.room = 3
  cursor.go()
  await settle()
  expect(events()).toEqual([1, 2, 3])
  const before = readCount()
  for (let n = 0; n < 50; n++) await grow(1)
  expect(readCount()).toBe(before)
  world.room = Number.POSITIVE_INFINITY
  cursor.go()
  await settle()
  expect(events()).toEqual(Array.from({ length: 150 }, (_, n) => n + 1))
  expectUnbroken(heard, 0)
})

test.each([
  [10_000, 10_000],
  [10_001, 0],
])('D11: who is %i events behind gets %i of them', async (behind, expected) => {
  const { world, cursor, heard, settle, grow, events } = setUp({ since: 0 })
  cursor.go()
  world.room = 0
  await grow(behind)
  world.room = Number.POSITIVE_INFINITY
  cursor.go()
  for (let n = 0; n < 100; n++) await settle()
  expect(events().length).toBe(expected)
  if (expected === 0)
    expect(heard).toMatchObject([{ action: 'reset', payload: { seq: behind, why: 'behind' } }])
})

test.each([
  [60_000, 'task.event'],
  [60_001, 'reset'],
])('D11: who took nothing for %i ms gets %s', async (ms, action) => {
  const { world, cursor, heard, settle, grow } = setUp({ since: 0 })
  cursor.go()
  world.room = 0
  await grow(1)
  world.time += ms
  world.room = Number.POSITIVE_INFINITY
  cursor.go()
  await settle()
  expect(heard).toMatchObject([{ action }])
  await grow(1)
  expectUnbroken(heard, 0)
})

test('D11: who was not told anything new is not behind, however long it takes nothing', async () => {
  const { world, cursor, heard, settle, grow } = setUp({ since: 5 }, { length: 5 })
  world.room = 0
  cursor.go()
  await settle()
  world.time += 100_000
  world.room = Number.POSITIVE_INFINITY
  await grow(1)
  expect(heard).toMatchObject([{ action: 'task.event', payload: { seq: 6, prev: 5 } }])
})

test.each([
  [{ since: 9 }, { length: 5 }, 'other log'],
  [{ since: 3, log: 'before' }, { length: 5 }, 'other log'],
  [{ since: 3 }, { length: 10_004 }, 'too old'],
] as const)('D11: %j of a log with %j begins with a snapshot: %s', async (input, about, why) => {
  const { cursor, heard, settle } = setUp(input, about)
  cursor.go()
  await settle()
  expect(heard).toMatchObject([{ action: 'snapshot', payload: { seq: about.length, why } }])
})

test('D11: when the records were rebuilt, the client gets them anew', async () => {
  const { world, cursor, heard, settle, grow } = setUp({ since: 5, log: 'log' }, { length: 5 })
  cursor.go()
  await settle()
  ;[world.length, world.log] = [0, 'rebuilt']
  await grow(7)
  expect(heard).toMatchObject([{ action: 'reset', payload: { seq: 7, log: 'rebuilt', why: 'other log' } }])
  await grow(1)
  expect(heard.at(-1)).toMatchObject({ action: 'task.event', payload: { seq: 8, prev: 7 } })
})

test('D11: an end of the log that is told late, when later events were sent already, means nothing', async () => {
  const { world, cursor, heard, listeners, settle, grow } = setUp({ since: 0 })
  cursor.go()
  await settle()
  world.length = 9
  for (const listener of listeners) listener({ seq: 4, log: 'log' })
  await settle()
  await grow(1)
  expect(heard.map(({ action }) => action)).toEqual(Array.from({ length: 10 }, () => 'task.event'))
  expectUnbroken(heard, 0)
})

test('D11: who may not follow any more is sent nothing', async () => {
  const { cursor, heard, forbid, settle, grow } = setUp({ since: 0 })
  cursor.go()
  await settle()
  forbid()
  await grow(3)
  expect(heard).toEqual([])
})

test('D11: a closed cursor listens no more', async () => {
  const { cursor, heard, listeners, grow } = setUp({ since: 0 })
  cursor.close()
  await grow(3)
  cursor.go()
  expect([heard, listeners.size]).toEqual([[], 0])
})

test('D11: a log that cannot be read is told, once', async () => {
  const { cursor, feed, failures, grow } = setUp({ since: 0 })
  feed.readAfter = async () => {
    throw new Error('broken')
  }
  cursor.go()
  await grow(1)
  expect(failures.length).toBeGreaterThan(0)
})
