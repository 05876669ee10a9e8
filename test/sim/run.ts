/**
 * `npm run test:sim -- --seeds 200`: runs the histories that once went wrong and so many new ones, and fails when one
 * of them finds something wrong.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Build, builds } from '../support/builds.ts'
import { historyOf } from './history.ts'
import { regressions } from './regressions.ts'
import type { HistoryAction } from './history-actions.ts'
import { Report, toldFailure } from './report.ts'
import { shrink } from './shrink.ts'
import { WorkerPool } from './worker-pool.ts'
import type { Wanted } from './history-worker.ts'

const { values } = parseArgs({
  options: {
    /** How many, from `first` on. */
    seeds: { type: 'string', default: '200' },
    first: { type: 'string', default: '1' },
    /** A history from a file instead, as `--save` writes it. */
    history: { type: 'string' },
    /** Where a shortened history of the first failure goes. */
    save: { type: 'string' },
    /** Where a summary is kept. */
    log: { type: 'string' },
    workers: { type: 'string', default: '2' },
    build: { type: 'string', default: 'whole' },
    /** Tell every history, whatever comes of it. */
    verbose: { type: 'boolean', default: false },
  },
})
if (!(values.build in builds))
  throw new Error(`There is no build ${values.build}: ${Object.keys(builds).join(', ')}`)
const build = values.build as Build

function* wanted(): Generator<Wanted> {
  if (values.history !== undefined) {
    const history = JSON.parse(readFileSync(values.history, 'utf8')) as HistoryAction[]
    yield { name: values.history, history, build }
    return
  }
  for (const { name, history } of regressions()) yield { name, history, build }
  const first = Number(values.first)
  for (let seed = first; seed < first + Number(values.seeds); seed++)
    yield { name: `seed ${seed}`, history: historyOf(seed), build }
}

const began = performance.now()
const pool = await WorkerPool.of(values.history === undefined ? Number(values.workers) : 1)
const report = new Report()
const histories = new Map<string, readonly HistoryAction[]>()
const queued = [...wanted()]
for (const { name, history } of queued) histories.set(name, history)
let ran = 0
await pool.run(queued, (result) => {
  report.add(result)
  if (++ran % 100 === 0) console.log(`${ran} of ${queued.length} ran.`)
  if (values.verbose || result.anomalies.length > 0) console.log(toldFailure(result))
})
const [failure] = report.failed
if (failure && values.save !== undefined) {
  const history = await shrink(pool, histories.get(failure.name) ?? [], build)
  writeFileSync(values.save, `${JSON.stringify(history, null, 1)}\n`)
}
await pool.end()
const seconds = Math.round((performance.now() - began) / 1000)
const lines = [...report.lines(), `${seconds} seconds, ${values.workers} at once.`]
console.log(lines.join('\n'))
if (values.log !== undefined) {
  mkdirSync(path.dirname(values.log), { recursive: true })
  const command = `npm run test:sim -- ${process.argv.slice(2).join(' ')}`
  writeFileSync(values.log, [`$ ${command}`, ...report.failed.map(toldFailure), ...lines, ''].join('\n'))
}
console.log(`${ran - report.failed.length} passed, ${report.failed.length} failed`)
process.exitCode = report.failed.length > 0 ? 1 : 0
