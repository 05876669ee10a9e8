/** P2: kill, fail, hang and cancel at every effect of every verb; the next command puts everything right. */
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { bundled } from '../support/bundle.ts'
import { FaultWorker } from './fault-worker.ts'
import { journeys } from './journeys.ts'
import { kindsFor, onceKinds } from './fault-kinds.ts'
import { fileFolder } from '../support/file-folder.ts'
import { hasTwoFileSystems, memoryRoot } from '../support/temp-folders.ts'
import { hasStrace } from '../support/faults-shim.ts'
import type { Tally } from './inject.ts'
import { FaultSweep } from './fault-sweep.ts'
import { faultTable } from './fault-table.ts'

const atOnce = 3
const root = fileFolder(memoryRoot())
const programOf = (name: string) => bundled(path.join(import.meta.dirname, name), root)
const runnerOptions = {
  root,
  apart: hasTwoFileSystems() ? fileFolder(os.tmpdir()) : undefined,
  program: await programOf('journey-child.ts'),
}
const program = await programOf('fault-worker-program.ts')
const seen = new Set<string>()
const workers: FaultWorker[] = []
const sweepOf = (name: string, shimmed: boolean) => {
  const own = Array.from(
    { length: atOnce },
    (_, n) => new FaultWorker({ runnerOptions, name: `${name}-${n + 1}`, shimmed, program, seen }),
  )
  workers.push(...own)
  return new FaultSweep(own)
}
const faultSweep = sweepOf('worker', false)
const tallies: { journey: string; kind: string; tally: Tally }[] = []

afterAll(() => {
  for (const worker of workers) worker.end()
  console.log(faultTable(tallies))
})

async function sweep(journey: string, kind: string, going: Promise<Tally>): Promise<void> {
  const tally = await going
  tallies.push({ journey, kind, tally })
  // At once, as the whole takes the better part of an hour.
  process.stderr.write(`${journey}, ${kind}: ${tally.points} points, ${tally.anomalies.length} anomalies\n`)
  expect(tally.anomalies).toEqual([])
}

const playable = journeys.filter((journey) => !journey.apart || runnerOptions.apart !== undefined)

describe.each(playable)('P1, P2, L6: $name is whole or undone after', (journey) => {
  test.each(kindsFor(journey))('$name, at every effect', async (kind) => {
    await sweep(journey.name, kind.name, faultSweep.everyPoint(journey, kind))
  })

  test('a second kill at every effect of the recovery', async () => {
    await sweep(journey.name, 'kill in recovery', faultSweep.everyPointOfRecovery(journey))
  })
})

/** Asked twice, the others are done twice. */
const repeatable = playable.filter(({ name, main }) => main || name.startsWith('accept'))

describe.each(repeatable)('P2.13: $name is whole or undone after', (journey) => {
  test.each(onceKinds)('$name', async (kind) => {
    await sweep(journey.name, kind.name, faultSweep.everyFaultOnce(journey, kind))
  })
})

const inside = sweepOf('inside', true)

describe.each(playable.filter(({ apart }) => !apart))(
  'P2: $name is whole or undone when git dies',
  (journey) => {
    test.each(['before', 'after'] as const)('%s each of its calls', async (death) => {
      await sweep(journey.name, `git dies ${death}`, inside.everyGitCall(journey, death))
    })
  },
)

describe.runIf(hasStrace())('P2: git dies at every system call that changes something', () => {
  test.each(journeys.filter(({ inside }) => inside))('of $name, and we live on', async (journey) => {
    await sweep(journey.name, 'git dies inside', inside.everySystemCall(journey, 'git'))
  })

  test.each(journeys.filter(({ inside }) => inside))('of $name, and we die with it', async (journey) => {
    await sweep(journey.name, 'kill inside git', inside.everySystemCall(journey, 'kill'))
  })
})

test.each(playable.filter(({ main }) => main))('without recovery a killed $name is seen', async (journey) => {
  const { points, anomalies } = await faultSweep.everyKill(journey, 'whole', false)
  expect(points).toBeGreaterThan(0)
  expect(anomalies.length).toBeGreaterThan(0)
})

const journalled = ['accept --as patch', 'reject', 'rewind']
test.each(journeys.filter(({ name }) => journalled.includes(name)))(
  'a build that writes down nothing is seen when its $name is killed',
  async (journey) => {
    const { anomalies } = await faultSweep.everyKill(journey, 'without the journal', true)
    expect(anomalies.length).toBeGreaterThan(0)
  },
)
