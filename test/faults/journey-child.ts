/** Plays one journey, or a recovery, under a fault: `node journey-child.ts <journey> <repo> <plan> <build>`. */
import { writeSync } from 'node:fs'
import { call } from '../support/call.ts'
import { compose } from '../../src/compose/full.ts'
import { appError } from '../../src/core/model/errors.ts'
import { type Build, both, builds } from '../support/builds.ts'
import { type FaultPlan, withFault } from '../support/faults.ts'
import { journeys } from './journeys.ts'

const [name, dir, plan, build] = process.argv.slice(2) as [string, string, string, Build]
// Written at once: what is still in a buffer dies with us.
const say = (...words: unknown[]) => writeSync(1, `${words.join(' ')}\n`)
const cancel = new AbortController()
const fault = withFault(
  (JSON.parse(plan) as FaultPlan | null) ?? undefined,
  (point) => say('hit', point),
  () => cancel.abort(),
)
const ports = compose({ around: both(builds[build], fault.around), background: false })
const journey = journeys.find((row) => row.name === name)
try {
  if (journey) await journey.act(ports, dir, cancel.signal)
  else await call(ports, 'system.recover', {}, cancel.signal)
  say('acknowledged')
} catch (thrown) {
  say('failed', appError(thrown).code, appError(thrown).message)
}
await ports.close()
say('done', fault.points.length, JSON.stringify(fault.points))
