import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { AppError, type FollowedEvent, openRepo } from '../../src/index.ts'
import { offshoot, testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'

/** JavaScript has no types: hands in anything. */
const any = (value: unknown) => value as never

describe('I2: input that the schema does not take is refused before anything runs', () => {
  const rows = [
    ['an unknown field', (lib) => lib.start(any({ taks: 'X' })), 'task.start: Unrecognized key: "taks"'],
    ['a wrong type', (lib) => lib.start(any({ task: 5 })), 'task.start, field task:'],
    ['a negative age', (lib) => lib.prune({ olderThanMs: -1 }), 'task.prune, field olderThanMs:'],
    ['a field of a list', (lib) => lib.accept(any({ task: 'T1', steps: [1, 'x'] })), 'field steps.1:'],
    ['no object', (lib) => lib.show(any({ task: 'T1' })), 'task.show, field task:'],
    ['an unknown strategy', (lib) => lib.task('T1').accept(any({ as: 'fling' })), 'field as:'],
  ] satisfies [string, (lib: ReturnType<typeof library>) => Promise<unknown>, string][]

  test.each(rows)('%s', async (_, call, message) => {
    const user = testRepo()
    const lib = library(user)
    const refused = await call(lib).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(AppError)
    expect(refused).toMatchObject({ code: 'WT_019', exitCode: 2, message: expect.stringContaining(message) })
    expect(await lib.list({ all: true })).toEqual([])
  })
})

test('I2: `remove` of nothing names what is missing', async () => {
  const lib = library(testRepo())
  await expect(lib.remove({})).rejects.toMatchObject({ code: 'WT_019' })
})

test('I2: `await using` closes the repository', async () => {
  const user = testRepo()
  let events: AsyncIterable<FollowedEvent>
  {
    await using lib = openRepo(user.dir, { env: user.env })
    await lib.start({ task: 'T1' })
    events = lib.events({ since: 0 })
  }
  // The stream of a closed repository has ended.
  for await (const event of events) expect.fail(`told ${event.seq}`)
})

test('I2: the stream of events has each event once, in order, of this and of other processes', async () => {
  const user = testRepo()
  const lib = library(user)
  const { task } = await lib.start({ task: 'T1' })
  const over = new AbortController()
  const seen: FollowedEvent[] = []
  for await (const followed of lib.events({ since: 0, signal: over.signal })) {
    seen.push(followed)
    if (followed.event.type === 'start.done') {
      writeFileSync(path.join(task.path, 'b.txt'), 'b\n')
      await offshoot(user, 'checkpoint', 'T1')
    }
    if (followed.event.type === 'checkpoint') await lib.reject({ task: 'T1' })
    if (followed.event.type === 'operation.done') over.abort()
  }
  const logged = await lib.audit()
  expect(seen.map(({ seq, event }) => [seq, event.type])).toEqual(logged.map(({ seq, what }) => [seq, what]))
  expect(new Set(seen.map((followed) => followed.task))).toEqual(new Set(['T1']))

  // A reader that comes back with its last number goes on where it was.
  const middle = seen[2]?.seq ?? 0
  const again: number[] = []
  for await (const { seq } of lib.events({ since: middle })) {
    again.push(seq)
    if (seq === seen.at(-1)?.seq) break
  }
  expect(again).toEqual(seen.slice(3).map(({ seq }) => seq))
})

test('I2: the stream of one repository has no event of another', async () => {
  const user = testRepo()
  const elsewhere = testRepo()
  const lib = library(user)
  const foreign = library({ ...elsewhere, env: user.env })
  await foreign.start({ task: 'OTHER' })
  await lib.start({ task: 'T1' })
  await lib.start({ task: 'T2' })
  const seen: string[] = []
  for await (const { task, event } of lib.events({ since: 0 })) {
    seen.push(task)
    if (task === 'T2' && event.type === 'start.done') break
  }
  expect(new Set(seen)).toEqual(new Set(['T1', 'T2']))
  const ofOne: string[] = []
  for await (const { task, event } of lib.events({ since: 0, task: 'T2' })) {
    ofOne.push(task)
    if (event.type === 'start.done') break
  }
  expect(new Set(ofOne)).toEqual(new Set(['T2']))
})
