/** P2.4: whatever of its unsynced writes a power cut loses, a verb is whole or undone, and what was acknowledged is there. */
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { JourneyRunner } from '../faults/journey-runner.ts'
import { bundled } from '../support/bundle.ts'
import { hasStrace } from '../support/faults-shim.ts'
import { fileFolder } from '../support/file-folder.ts'
import { memoryRoot } from '../support/temp-folders.ts'
import { cutPower } from './crash-recorder.ts'
import { chosen } from './crash-states.ts'

const root = fileFolder(memoryRoot())
const program = await bundled(path.join(import.meta.dirname, '../faults/journey-child.ts'), root)
const runner = new JourneyRunner({ root, apart: undefined, program }, 'crash', false)
const told: string[] = []
/** Each takes about half a second. */
const most = Number(process.env.CRASH_STATES ?? 150)

afterAll(() => console.log(['States that a power cut can leave, by journey:', ...told].join('\n')))

describe.runIf(hasStrace())('P2.4: after a power cut at any sync', () => {
  test.each(['checkpoint', 'accept --as patch', 'accept --as squash', 'reject', 'rewind'])(
    '%s is whole or undone, and an acknowledged one is there',
    async (name) => {
      const tally = await cutPower(runner, { program, log: path.join(root, 'log'), name }, (states) =>
        chosen(states, most),
      )
      const { changes, syncs, possible, states, anomalies } = tally
      told.push(
        `  ${name}: ${changes} changes, ${syncs} syncs, ${states} of ${possible} states, ${anomalies.length} anomalies`,
      )
      expect(anomalies).toEqual([])
    },
  )
})
