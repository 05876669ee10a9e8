/** Records what a journey does to the disk, and brings the disk into the states that a power cut can leave. */
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { readSnapshot } from '../faults/full-snapshot.ts'
import type { Baseline, JourneyRunner } from '../faults/journey-runner.ts'
import { journeys } from '../faults/journeys.ts'
import { wrongAfterCut } from './crash-checks.ts'
import { type CrashState, crashStates } from './crash-states.ts'
import { readDiskLog, straceArgs } from './disk-log.ts'
import { type Change, changesOf, diskAfter, readDisk, writeDifference } from './disk-model.ts'

export interface CrashTally {
  readonly changes: number
  readonly syncs: number
  /** So many states a power cut can leave; so many of them were tried. */
  readonly possible: number
  readonly states: number
  readonly anomalies: readonly string[]
}

/** `choose` takes some of the states. */
export async function cutPower(
  runner: JourneyRunner,
  { program, log, name }: { readonly program: string; readonly log: string; readonly name: string },
  choose: (states: readonly CrashState[]) => readonly CrashState[],
): Promise<CrashTally> {
  const journey = journeys.find((one) => one.name === name)!
  const baseline = await runner.reset(journey)
  const { home } = baseline.fixture
  const disk = readDisk(home)
  const changes = changesOf(disk, record(baseline, program, log, name), home)
  const undisturbed = await readSnapshot(baseline.fixture)
  const anomalies: string[] = []
  const all = crashStates(disk, changes)
  const states = choose(all)
  for (const state of states) {
    await runner.reset(journey)
    writeDifference(disk, diskAfter(disk, changes, state.count, state.lost), home)
    const wrong = await wrongAfterCut(baseline, state.acknowledged, undisturbed)
    anomalies.push(...wrong.map((line) => `${name}, ${state.what}: ${line}`))
  }
  const syncs = changes.filter((one: Change) => one.kind === 'sync').length
  return { changes: changes.length, syncs, possible: all.length, states: states.length, anomalies }
}

function record({ fixture }: Baseline, program: string, log: string, name: string) {
  const args = [...straceArgs(log), process.execPath, program, name, fixture.dir, 'null', 'whole']
  const { status, stdout } = spawnSync('strace', args, { env: fixture.env, encoding: 'utf8' })
  if (status !== 0 || !stdout.includes('acknowledged')) throw new Error(`${name} failed: ${stdout}`)
  return readDiskLog(log, path.resolve(fixture.home))
}
