/** P1, A4: a disk that fills up in the middle of an accept, at any point of it. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundled } from '../support/bundle.ts'
import { inspect, nextCommand } from './invariants.ts'
import { journeys } from './journeys.ts'
import { JourneyRunner } from './journey-runner.ts'
import { fileFolder } from '../support/file-folder.ts'
import { memoryRoot } from '../support/temp-folders.ts'
import { runChild } from './inject.ts'

const root = fileFolder(memoryRoot())
const disk = path.join(root, 'disk')
let reason: string | undefined
const runnerOptions = {
  root: disk,
  apart: undefined,
  program: await bundled(path.join(import.meta.dirname, 'journey-child.ts'), root),
}
/** One page more from size to size: no file system gives out less. */
const page = 4096
/** So many sizes in a row in which all goes well are the end. */
const enough = 3
const told: string[] = []

/** A disk that is large as long as nothing fills it up. Answers why there is none. */
function mounted(): string | undefined {
  mkdirSync(disk)
  if (process.platform !== 'linux') return `this is ${process.platform}`
  if (process.getuid?.() !== 0) return 'mounting takes root'
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=700', 'tmpfs', disk], { stdio: 'pipe' })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

beforeAll(() => {
  reason = mounted()
})
afterAll(() => {
  if (reason === undefined) execFileSync('umount', ['--lazy', disk])
  console.log(reason === undefined ? told.join('\n') : `No accept on a full disk was tried: ${reason}.`)
})

const freeBytes = () => statfsSync(disk).bavail * statfsSync(disk).bsize

/** Fills the disk up, but for so many bytes; answers how to take that back. */
function leaveFree(bytes: number): () => void {
  const file = path.join(disk, 'ballast')
  const handle = openSync(file, 'w')
  try {
    for (let left = freeBytes() - bytes; left > 0; left = freeBytes() - bytes) {
      writeSync(handle, Buffer.alloc(Math.min(left, 1 << 20)))
    }
  } finally {
    closeSync(handle)
  }
  return () => rmSync(file)
}

const landing = journeys.filter(({ name }) => ['accept --as patch', 'accept --as squash'].includes(name))

test.for(landing)(
  'P1: $name lands all of it or nothing, however little space is left',
  async (journey, { skip }) => {
    skip(reason !== undefined, reason)
    const runner = new JourneyRunner(runnerOptions, journey.name.replaceAll(' ', ''), false)
    const seen = new Set<string>()
    const isNew = (state: string) => !seen.has(state) && Boolean(seen.add(state))
    const anomalies: string[] = []
    let [sizes, whole] = [0, 0]
    for (let free = 0; whole < enough; free += page) {
      const baseline = await runner.reset(journey)
      const empty = leaveFree(free)
      const { acknowledged } = await runChild(runner.start(journey, journey.name, undefined))
      empty()
      await nextCommand(baseline.fixture)
      const wrong = await inspect(baseline, journey, acknowledged, isNew)
      anomalies.push(...wrong.map((line) => `${free / 1024} KiB free: ${line}`))
      whole = acknowledged ? whole + 1 : 0
      sizes += 1
    }
    told.push(`${journey.name}: ${sizes} sizes of free space, from none to ${(sizes * page) / 1024} KiB`)
    expect(anomalies).toEqual([])
    expect(sizes).toBeGreaterThan(enough)
  },
)
