/** Random histories: whatever a forecast says, landing the tasks for real comes to the same. */
import { expect, test } from 'vitest'
import type { ForecastAnswer } from '../../src/library/types.ts'
import { inParallel } from '../support/accept/parallel.ts'
import { type History, history } from '../support/forecast/history.ts'
import {
  inCheckoutOf,
  landAll,
  type Outcome,
  type Played,
  stateOf,
  told,
  withPlayed,
} from '../support/forecast/landings.ts'
import { fc, repetitions } from '../support/random.ts'

const minute = 60_000
/** 200 take several minutes: `FORECAST_HISTORIES=200 npx vitest run test/journeys/forecast-property.test.ts` */
const histories = Number(process.env.FORECAST_HISTORIES ?? 8)
const isQuick = histories < 100

/** How many statements of each kind were compared, and how many of them were about a conflict. */
const seen: Record<string, { compared: number; conflicts: number }> = {}

function compare(kind: string, said: Outcome, truth: Outcome | undefined, where: string): void {
  const counts = (seen[kind] ??= { compared: 0, conflicts: 0 })
  counts.compared++
  if (said.length > 0) counts.conflicts++
  expect(said, `${kind}: ${where}`).toEqual(truth)
}

type TaskForecast = ForecastAnswer['tasks'][number]

const lands = ({ checkout }: TaskForecast) => checkout.level === 'none' || checkout.level === 'same-file'

async function checkTasks(played: Played, { tasks }: ForecastAnswer): Promise<void> {
  const main = (await played.git('rev-parse', 'main')).trim()
  for (const { task, checkout, target, files } of tasks) {
    if (checkout.level === 'unknown') compare('unknown', ['refused'], await landAll(played, [task]), task)
    else compare('checkout', told(checkout.conflicts), await landAll(played, [task]), task)
    if (files === 0 || target.level === 'unknown') continue
    const truth = await inCheckoutOf(played, main, (there) => landAll(there, [task]))
    compare('target', told(target.conflicts), truth, task)
  }
}

async function checkPairs(played: Played, { tasks, pairs }: ForecastAnswer): Promise<void> {
  const work = tasks.filter(({ files }) => files > 0)
  for (const [at, one] of work.entries()) {
    for (const other of work.slice(at + 1)) {
      const names = new Set([one.task, other.task])
      const pair = pairs.find(({ first, second }) => names.has(first) && names.has(second))
      const { first, second, conflicts, on, level } = pair ?? {
        first: one.task,
        second: other.task,
        conflicts: [],
        on: lands(one) && lands(other) ? 'checkout' : 'start',
        level: 'none',
      }
      const where = `${first}, then ${second}`
      const started = played.tasks.find(({ id }) => id === second)?.base
      if (level === 'unknown') compare('pair unknown', [], [], where)
      else if (on === 'checkout')
        compare('pair', told(conflicts), await landAll(played, [first, second]), where)
      else if (started !== undefined && pair) {
        const truth = await inCheckoutOf(played, started, (there) => landAll(there, [first, second]))
        compare('pair on start', told(conflicts), truth, where)
      }
    }
  }
}

async function checkAfter(played: Played, ids: readonly string[], order: readonly number[]): Promise<void> {
  const shuffled = ids.map((id, at) => ({ id, by: order[at] ?? 0 })).sort((a, b) => a.by - b.by)
  const names = shuffled.map(({ id }) => id)
  const short = names.slice(0, 2)
  for (const chain of isQuick ? [short] : [...names.map((name) => [name]), short, names.slice(0, 3)]) {
    const { after, tasks } = await played.lib.forecast({ after: chain })
    expect(after.map(({ task }) => task)).toEqual(chain)
    const landed: string[] = []
    for (const one of [...after, ...tasks]) {
      if (one.checkout.level !== 'unknown') {
        const where = [...landed, one.task].join(', ')
        compare('after', told(one.checkout.conflicts), await landAll(played, [...landed, one.task]), where)
      }
      if (after.includes(one) && lands(one)) landed.push(one.task)
    }
  }
}

async function checkHistory(played: Played, { order }: History): Promise<void> {
  const before = await stateOf(played)
  const forecast = await played.lib.forecast()
  expect(await stateOf(played), 'a forecast changes nothing').toBe(before)
  await checkTasks(played, forecast)
  await checkPairs(played, forecast)
  await checkAfter(
    played,
    forecast.tasks.filter(({ files }) => files > 0).map(({ task }) => task),
    order,
  )
  // What was remembered of merges says the same as the merges did.
  expect({ ...(await played.lib.forecast()), at: '' }).toEqual({ ...forecast, at: '' })
  expect(await stateOf(played), 'every landing was undone').toBe(before)
}

test(`F1: ${histories} histories: the forecast equals really landing`, {
  timeout: 60 * minute,
}, async () => {
  await inParallel(
    histories,
    async () => undefined,
    () => fc.asyncProperty(history, (one) => withPlayed(one, (played) => checkHistory(played, one))),
  )
  console.log(JSON.stringify(seen))
  for (const kind of ['checkout', 'target', 'after', ...(isQuick ? [] : ['pair'])]) {
    const { compared = 0, conflicts = 0 } = seen[kind] ?? {}
    // Neither side of the property is empty.
    expect(Math.min(conflicts, compared - conflicts), kind).toBeGreaterThanOrEqual(
      (histories * repetitions) / 10,
    )
  }
})
