/** Waits for one request on stdin, carries it out, under a fault if it says so, and tells how it went. */
import { writeSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { compose } from '../../src/compose/full.ts'
import { appError } from '../../src/core/model/errors.ts'
import { type FaultPlan, withFault } from '../support/faults.ts'
import { type Build, both, builds } from '../support/builds.ts'
import { type Call, carryOut } from './verb-calls.ts'

export interface ChildRequest {
  readonly call: Call
  readonly env: Readonly<Record<string, string>>
  readonly build: Build
  readonly plan?: FaultPlan | undefined
}

// Written at once: what is still in a buffer dies with us.
const say = (...words: unknown[]) => writeSync(1, `${words.join(' ')}\n`)
const { call, env, build, plan } = JSON.parse(await text(process.stdin)) as ChildRequest
const cancel = new AbortController()
const fault = withFault(
  plan,
  (point) => say('hit', point),
  () => cancel.abort(),
)
const ports = compose({ env, background: false, around: both(builds[build], fault.around) })
try {
  await carryOut(ports, call, cancel.signal)
  say('acknowledged')
} catch (thrown) {
  say('failed', appError(thrown).code, appError(thrown).message.split('\n')[0])
}
await ports.close()
