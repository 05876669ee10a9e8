/** Whoever carries a call out: this process, or one that may be killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { appError } from '../../src/core/errors.ts'
import { withFault } from '../support/faults.ts'
import { type Build, both, builds } from '../support/builds.ts'
import type { ChildOrder } from './verb-child.ts'
import type { Ground } from './sim-fixture.ts'
import type { VerbOrder } from './history-actions.ts'
import { type Call, carryOut } from './verb-calls.ts'

export interface Outcome {
  readonly acknowledged: boolean
  /** The code and the words of the failure. */
  readonly failed?: string | undefined
  /** The effect that a fault struck. */
  readonly struck?: string | undefined
}

/** Processes that have started and wait for an order: starting one takes longer than most verbs. */
export class Spares {
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

  async carryOut(order: ChildOrder): Promise<Outcome> {
    if (this.#waiting.length === 0) this.#add()
    const child = this.#waiting.shift()!
    const ended = new Promise((resolve) => child.once('close', resolve))
    let said = ''
    child.stdout!.on('data', (chunk: Buffer) => (said += chunk))
    child.stdin!.end(JSON.stringify(order))
    if (this.#waiting.length === 0) this.#add()
    await ended
    return {
      acknowledged: /^acknowledged$/m.test(said),
      failed: /^failed (.+)$/m.exec(said)?.[1],
      struck: /^struck (.+)$/m.exec(said)?.[1],
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

export class Hands {
  readonly #ground: Ground
  readonly #spares: Spares
  readonly #build: Build

  constructor(ground: Ground, spares: Spares, build: Build) {
    this.#ground = ground
    this.#spares = spares
    this.#build = build
  }

  /** What nobody dies of can be played here. */
  do(call: Call, order: VerbOrder, alone = order.fault?.kind === 'kill'): Promise<Outcome> {
    return alone ? this.#elsewhere(call, order) : this.#here(call, order)
  }

  #elsewhere(call: Call, { fault }: VerbOrder): Promise<Outcome> {
    return this.#spares.carryOut({ call, env: this.#ground.env, build: this.#build, plan: fault })
  }

  async #here(call: Call, { fault: plan }: VerbOrder): Promise<Outcome> {
    let struck: string | undefined
    const cancel = new AbortController()
    const fault = withFault(
      plan,
      (point) => (struck = point),
      () => cancel.abort(),
    )
    const ports = this.#ground.ports(both(builds[this.#build], fault.around))
    try {
      await carryOut(ports, call, cancel.signal)
      return { acknowledged: true, struck }
    } catch (thrown) {
      return {
        acknowledged: false,
        failed: `${appError(thrown).code} ${appError(thrown).message.split('\n')[0]}`,
        struck,
      }
    } finally {
      await ports.close()
    }
  }
}
