/** P2.4: a power cut that loses all that was not synced when a verb said that it was done loses nothing of the verb. */
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { JourneyRunner } from '../faults/journey-runner.ts'
import { bundled } from '../support/bundle.ts'
import { hasStrace } from '../support/faults-shim.ts'
import { fileFolder } from '../support/file-folder.ts'
import { memoryRoot } from '../support/temp-folders.ts'
import { cutPower } from './crash-recorder.ts'
import type { CrashState } from './crash-states.ts'

const root = fileFolder(memoryRoot())
const program = await bundled(path.join(import.meta.dirname, '../faults/journey-child.ts'), root)
const runner = new JourneyRunner({ root, apart: undefined, program }, 'crash', false)
const told: string[] = []
const lastBarest = (states: readonly CrashState[]) =>
  states.filter((state) => state.isBarest && state.acknowledged)

afterAll(() => console.log(['Lost by a power cut just after the verb:', ...told].join('\n')))

describe.runIf(hasStrace())('P2.4: after a power cut that loses all that was not synced', () => {
  test.each(['accept --as patch', 'accept --as squash', 'reject', 'rewind'])(
    '%s, which was acknowledged, is there',
    async (name) => {
      const tally = await cutPower(runner, { program, log: path.join(root, 'log'), name }, lastBarest)
      const { changes, syncs, states, anomalies } = tally
      told.push(
        `  ${name}: ${changes} changes, ${syncs} syncs, ${states} states, ${anomalies.length} anomalies`,
      )
      expect(anomalies).toEqual([])
    },
  )
})
