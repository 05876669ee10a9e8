/** P1, P2: somebody writes to the same files between any two effects of a verb, and loses nothing. */
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { bundled } from '../support/bundle.ts'
import { fileFolder } from '../support/file-folder.ts'
import { memoryRoot } from '../support/temp-folders.ts'
import { deeds } from './deeds.ts'
import { FaultSweep } from './fault-sweep.ts'
import { meetingTable } from './fault-table.ts'
import { FaultWorker } from './fault-worker.ts'
import type { Tally } from './inject.ts'
import { journeys } from './journeys.ts'

const atOnce = 3
const root = fileFolder(memoryRoot())
const programOf = (name: string) => bundled(path.join(import.meta.dirname, name), root)
const runnerOptions = { root, apart: undefined, program: await programOf('journey-child.ts') }
const program = await programOf('fault-worker-program.ts')
const workers = Array.from(
  { length: atOnce },
  (_, n) =>
    new FaultWorker({ runnerOptions, name: `writer-${n + 1}`, shimmed: false, program, seen: new Set() }),
)
const sweep = new FaultSweep(workers)
const tallies: { journey: string; kind: string; tally: Tally }[] = []

afterAll(() => {
  for (const worker of workers) worker.end()
  console.log(meetingTable(tallies))
})

async function holds(journey: string, kind: string, going: Promise<Tally>): Promise<void> {
  const tally = await going
  tallies.push({ journey, kind, tally })
  process.stderr.write(`${journey}, ${kind}: ${tally.points} points, ${tally.anomalies.length} anomalies\n`)
  expect(tally.anomalies).toEqual([])
}

describe.each(journeys.filter(({ writes }) => writes !== undefined))(
  'P1.7, P2.11: beside $name, at every effect of it, a second writer',
  (journey) => {
    test.each(deeds)('$name', async ({ name }) => {
      await holds(journey.name, name, sweep.everyMeeting(journey, name))
    })
  },
)

/** In a recovery the same code places the files; one deed shows that it looks again. */
const inRecovery = deeds.filter(({ name }) => name.startsWith('edits src/b.txt'))

describe.each(journeys.filter(({ writes }) => writes !== undefined))(
  'P1.7, P2.11: beside the recovery of $name, at every effect of it, a second writer',
  (journey) => {
    test.each(inRecovery)('$name', async ({ name }) => {
      await holds(journey.name, `${name}, in recovery`, sweep.everyMeetingInRecovery(journey, name))
    })
  },
)
