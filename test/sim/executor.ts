/** Carries calls out: in this process, or in one that may be killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { appError } from '../../src/core/model/errors.ts'
import { withFault } from '../support/faults.ts'
import { type Build, both, builds } from '../support/builds.ts'
import type { ChildRequest } from './verb-child.ts'
import type { SimFixture } from './sim-fixture.ts'
import type { VerbRequest } from './history-actions.ts'
import { type Call, carryOut } from './verb-calls.ts'

export interface Outcome {
  readonly acknowledged: boolean
  /** The code and the words of the failure. */
  readonly failed?: string | undefined
  /** The effect that a fault hit. */
  readonly hit?: string | undefined
}

/** Processes that have started and wait for a request: starting one takes longer than most verbs. */
export class SpareProcesses {
  readonly #program: string
  readonly #waiting: ChildProcess[] = []

  constructor(program: string) {
    this.#program = program
    this.#add()
  }

  #add(): void {
    const child = spawn(process.execPath, [this.#program], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#waiting.push(child)
  }

  async carryOut(request: ChildRequest): Promise<Outcome> {
    if (this.#waiting.length === 0) this.#add()
    const child = this.#waiting.shift()!
    const ended = new Promise((resolve) => child.once('close', resolve))
    let said = ''
    child.stdout!.on('data', (chunk: Buffer) => (said += chunk))
    child.stdin!.end(JSON.stringify(request))
    if (this.#waiting.length === 0) this.#add()
    await ended
    return {
      acknowledged: /^acknowledged$/m.test(said),
      failed: /^failed (.+)$/m.exec(said)?.[1],
      hit: /^hit (.+)$/m.exec(said)?.[1],
    }
  }

  async end(): Promise<void> {
    for (const child of this.#waiting) {
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGKILL')
      await ended
    }
  }
}

export class Executor {
  readonly #fixture: SimFixture
  readonly #spares: SpareProcesses
  readonly #build: Build

  constructor(fixture: SimFixture, spares: SpareProcesses, build: Build) {
    this.#fixture = fixture
    this.#spares = spares
    this.#build = build
  }

  /** A call that kills nobody is carried out here. */
  do(call: Call, request: VerbRequest, alone = request.fault?.kind === 'kill'): Promise<Outcome> {
    return alone ? this.#elsewhere(call, request) : this.#here(call, request)
  }

  #elsewhere(call: Call, { fault }: VerbRequest): Promise<Outcome> {
    return this.#spares.carryOut({ call, env: this.#fixture.env, build: this.#build, plan: fault })
  }

  async #here(call: Call, { fault: plan }: VerbRequest): Promise<Outcome> {
    let hit: string | undefined
    const cancel = new AbortController()
    const fault = withFault(
      plan,
      (point) => (hit = point),
      () => cancel.abort(),
    )
    const ports = this.#fixture.ports(both(builds[this.#build], fault.around))
    try {
      await carryOut(ports, call, cancel.signal)
      return { acknowledged: true, hit }
    } catch (thrown) {
      return {
        acknowledged: false,
        failed: `${appError(thrown).code} ${appError(thrown).message.split('\n')[0]}`,
        hit,
      }
    } finally {
      await ports.close()
    }
  }
}
