/** P1, P2, P3: short random histories, those that once went wrong, and proof that the test can see what is wrong. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Build } from '../support/builds.ts'
import { historyOf } from './history.ts'
import { regressions } from './regressions.ts'
import type { HistoryAction } from './history-actions.ts'
import { toldFailure } from './report.ts'
import { type Result, WorkerPool } from './worker-pool.ts'

let pool: WorkerPool

beforeAll(async () => {
  pool = await WorkerPool.of(1)
})
afterAll(() => pool.end())

async function ran(name: string, history: readonly HistoryAction[], build: Build = 'whole'): Promise<Result> {
  let found: Result | undefined
  await pool.run([{ name, history, build }], (result) => (found = result))
  return found!
}

const failures = (result: Result) => (result.anomalies.length > 0 ? toldFailure(result) : '')

test.each([1, 2, 3])('P1, P2, P3: all is well in the history of seed %i', async (seed) => {
  expect(failures(await ran(`seed ${seed}`, historyOf(seed)))).toBe('')
})

test.each(regressions())('P1, P2, P3: all is well in a history that once went wrong: $name', async (kept) => {
  expect(failures(await ran(kept.name, kept.history))).toBe('')
})

/** Without faults and races: effects that run side by side come in any order, so that the Nth may be another one. */
const calm = (history: readonly HistoryAction[]) =>
  history.flatMap((action): HistoryAction[] => {
    if (action.who === 'several') return []
    if (action.who !== 'offshoot') return [action]
    const { fault: _, ...rest } = action.request
    return [{ ...action, request: rest }]
  })

test('the same seed is the same history, and comes to the same where nothing is hit or races', async () => {
  expect(historyOf(7)).toEqual(historyOf(7))
  expect(historyOf(7)).not.toEqual(historyOf(8))
  const history = calm(historyOf(7))
  const [first, second] = [await ran('first', history), await ran('second', history)]
  expect(second.log).toEqual(first.log)
})

describe('a build that lacks something is seen', () => {
  const edited: readonly HistoryAction[] = [
    { who: 'offshoot', request: { verb: 'start', task: 'T1', which: 0 } },
    { who: 'agent', does: 'edit', task: 'T1', which: 1 },
    { who: 'agent', does: 'create', task: 'T1', which: 1 },
    { who: 'offshoot', request: { verb: 'checkpoint', task: 'T1', which: 0 } },
  ]
  const killed = (at: number): HistoryAction[] => [
    ...edited,
    {
      who: 'offshoot',
      request: {
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
      const { anomalies } = await ran(`killed at ${at}`, killed(at), build)
      found.push(...anomalies)
    }
    expect(found.join('\n')).toMatch(/^P[123]: /)
  })
})
