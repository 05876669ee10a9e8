/** P1, P2, P3: short random histories, those that once went wrong, and proof that the test can see what is wrong. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Build } from '../support/builds.ts'
import { historyOf } from './history.ts'
import { keptHistories } from './regressions.ts'
import type { Order } from './history-actions.ts'
import { toldFailure } from './report.ts'
import { type Result, Team } from './worker-pool.ts'

let team: Team

beforeAll(async () => {
  team = await Team.of(1)
})
afterAll(() => team.end())

async function played(name: string, history: readonly Order[], build: Build = 'whole'): Promise<Result> {
  let found: Result | undefined
  await team.play([{ name, history, build }], (result) => (found = result))
  return found!
}

const failures = (result: Result) => (result.anomalies.length > 0 ? toldFailure(result) : '')

test.each([1, 2, 3])('P1, P2, P3: all is well in the history of seed %i', async (seed) => {
  expect(failures(await played(`seed ${seed}`, historyOf(seed)))).toBe('')
})

test.each(keptHistories())(
  'P1, P2, P3: all is well in a history that once went wrong: $name',
  async (kept) => {
    expect(failures(await played(kept.name, kept.history))).toBe('')
  },
)

/** Without faults and races: effects that run side by side come in any order, so that the Nth may be another one. */
const calm = (history: readonly Order[]) =>
  history.flatMap((order): Order[] => {
    if (order.who === 'several') return []
    if (order.who !== 'offshoot') return [order]
    const { fault: _, ...rest } = order.order
    return [{ ...order, order: rest }]
  })

test('the same seed is the same history, and comes to the same where nothing strikes or races', async () => {
  expect(historyOf(7)).toEqual(historyOf(7))
  expect(historyOf(7)).not.toEqual(historyOf(8))
  const history = calm(historyOf(7))
  const [first, second] = [await played('first', history), await played('second', history)]
  expect(second.log).toEqual(first.log)
})

describe('a build that lacks something is seen', () => {
  const edited: readonly Order[] = [
    { who: 'offshoot', order: { verb: 'start', task: 'T1', which: 0 } },
    { who: 'agent', deed: 'edit', task: 'T1', which: 1 },
    { who: 'agent', deed: 'create', task: 'T1', which: 1 },
    { who: 'offshoot', order: { verb: 'checkpoint', task: 'T1', which: 0 } },
  ]
  const killed = (at: number): Order[] => [
    ...edited,
    {
      who: 'offshoot',
      order: {
        verb: 'accept',
        task: 'T1',
        as: 'patch',
        which: 0,
        fault: { kind: 'kill', at, when: 'before' },
      },
    },
  ]

  test.each(['without the journal', 'without recovery'] as const)('%s', async (build) => {
    const found: string[] = []
    for (let at = 6; at < 60 && found.length === 0; at += 2) {
      const { anomalies } = await played(`killed at ${at}`, killed(at), build)
      found.push(...anomalies)
    }
    expect(found.join('\n')).toMatch(/^P[123]: /)
  })
})
