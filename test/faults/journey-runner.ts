/**
 * Runs one journey again and again from the same state. Registrations and records hold absolute paths, so a prepared state
 * cannot be copied elsewhere: it is copied away, and back to where it was before each run.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { globSync, mkdirSync, rmSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { type Composed, type ComposeOptions, compose } from '../../src/compose/full.ts'
import type { Build } from '../support/builds.ts'
import type { FaultPlan } from '../support/faults.ts'
import { cleanEnv } from '../support/clean-env.ts'
import { makeUserRepo } from './user-repo.ts'
import type { Journey } from './journeys.ts'
import { writeShim } from '../support/faults-shim.ts'
import { type Summary, summarize } from './summary.ts'
import { readSnapshot, type Snapshot } from './full-snapshot.ts'

const run = promisify(execFile)

export interface Fixture {
  /** The home folder of the user. */
  readonly home: string
  /** Their checkout. */
  readonly dir: string
  /** The state folder. */
  readonly state: string
  readonly env: Readonly<Record<string, string>>
  readonly git: (...args: string[]) => Promise<string>
  /** Freshly composed; close them. */
  readonly ports: (around?: ComposeOptions['around']) => Composed
}

/** What a journey finds, and what it comes to when nothing goes wrong. */
export interface Baseline {
  readonly fixture: Fixture
  readonly before: Snapshot
  /** Of journeys that are one operation. */
  readonly summaries?: { readonly before: Summary; readonly after: Summary }
}

export interface RunnerOptions {
  readonly root: string
  /** On another file system than the root; undefined when this machine offers none. */
  readonly apart: string | undefined
  /** The file of the program that runs a journey in a process of its own. */
  readonly program: string
}

export class JourneyRunner {
  readonly #root: string
  readonly #apart: string | undefined
  readonly #program: string
  readonly #cache: string
  /** Where the shim is that lets git die at a system call. */
  readonly shim: string | undefined
  readonly #prepared = new Map<string, Baseline>()

  constructor({ root, apart, program }: RunnerOptions, name: string, shimmed: boolean) {
    this.#root = path.join(root, name)
    this.#apart = apart && path.join(apart, name)
    this.#program = program
    this.#cache = path.join(root, 'cache')
    this.shim = shimmed ? path.join(this.#root, 'shim') : undefined
    mkdirSync(this.#root)
    if (this.#apart) mkdirSync(this.#apart)
    if (this.shim) writeShim(this.shim)
  }

  fixtureOf(journey: Journey): Fixture {
    const home = path.join(this.#root, 'home')
    const dir = path.join(home, 'repo')
    const state = journey.apart ? path.join(this.#apart!, 'state') : path.join(home, 'state')
    const clean = cleanEnv(home)
    const plain = { ...clean, GIT_OPTIONAL_LOCKS: '0' }
    const tools = `${path.join(home, 'bin')}:${clean.PATH}`
    const searched = this.shim ? `${this.shim}:${tools}` : tools
    const env = { ...clean, PATH: searched, OFFSHOOT_HOME: state, ...journey.env }
    return {
      home,
      dir,
      state,
      env,
      git: async (...args) => (await run('git', args, { cwd: dir, env: plain })).stdout,
      ports: (around) => compose({ env, background: false, ...(around && { around }) }),
    }
  }

  /** Brings back the state that the journey finds. */
  async reset(journey: Journey): Promise<Baseline> {
    const known = this.#prepared.get(journey.name)
    if (known) {
      await this.#bringBack(journey, journey.name)
      return known
    }
    const fixture = this.fixtureOf(journey)
    for (const place of placesOf(fixture)) rmSync(place, { recursive: true, force: true })
    mkdirSync(fixture.home)
    await makeUserRepo(fixture)
    await journey.prepare(fixture)
    ageIndexes(fixture)
    const before = await readSnapshot(fixture)
    await this.#putAway(journey, journey.name)
    // A copy looks different to git: every run is to find the same.
    await this.#bringBack(journey, journey.name)
    const baseline = journey.operation ? await this.#rehearse(journey, fixture, before) : { fixture, before }
    this.#prepared.set(journey.name, baseline)
    return baseline
  }

  /** Runs it without any fault: what it comes to then is what it must come to, if to anything. */
  async #rehearse(journey: Journey, fixture: Fixture, before: Snapshot): Promise<Baseline> {
    const first = await summarize(fixture, before, before)
    const ports = fixture.ports()
    try {
      await journey.act(ports, fixture.dir)
    } finally {
      await ports.close()
    }
    const after = await summarize(fixture, before, await readSnapshot(fixture))
    await this.#bringBack(journey, journey.name)
    return { fixture, before, summaries: { before: first, after } }
  }

  /** Keeps the present state and answers how to bring it back. */
  async keep(journey: Journey): Promise<() => Promise<void>> {
    await this.#putAway(journey, 'kept')
    return () => this.#bringBack(journey, 'kept')
  }

  async #putAway(journey: Journey, name: string): Promise<void> {
    for (const place of placesOf(this.fixtureOf(journey))) await copied(place, `${place}.${name}`)
  }

  async #bringBack(journey: Journey, name: string): Promise<void> {
    const fixture = this.fixtureOf(journey)
    for (const place of placesOf(fixture)) await copied(`${place}.${name}`, place)
    if (name === journey.name) await journey.settle?.(fixture)
  }

  /** Starts the journey, or `recover`, as a process of its own. */
  start(journey: Journey, what: string, plan: FaultPlan | undefined, build: Build = 'whole'): ChildProcess {
    const fixture = this.fixtureOf(journey)
    const args = [this.#program, what, fixture.dir, JSON.stringify(plan ?? null), build]
    return spawn(process.execPath, args, {
      env: { ...fixture.env, NODE_COMPILE_CACHE: this.#cache },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  }
}

/** An index of the last two seconds is treated differently: every run is to find an old one. */
function ageIndexes({ state }: Fixture): void {
  const minuteAgo = Date.now() / 1000 - 60
  for (const index of globSync(path.join(state, 'vaults/*/tasks/*/index')))
    utimesSync(index, minuteAgo, minuteAgo)
}

function placesOf({ home, state }: Fixture): string[] {
  return state.startsWith(home) ? [home] : [home, state]
}

async function copied(from: string, to: string): Promise<void> {
  rmSync(to, { recursive: true, force: true })
  await run('cp', ['-a', from, to])
}
