/**
 * A process of its own that runs journeys, injects faults and looks. The more memory a process has, the longer it takes to
 * start a git from it, and the process of the test has much.
 */
import { type ChildProcess, fork } from 'node:child_process'
import type { Build } from '../support/builds.ts'
import type { FaultPlan } from '../support/faults.ts'
import type { RunnerOptions } from './journey-runner.ts'
import type { Tally } from './inject.ts'

export type Work =
  | {
      readonly what: 'inject'
      readonly plan: FaultPlan
      readonly alone: boolean
      readonly recovers: boolean
      readonly build: Build
    }
  | { readonly what: 'complete'; readonly plan: FaultPlan; readonly alone: boolean }
  | { readonly what: 'inside'; readonly plan: FaultPlan }
  | { readonly what: 'around'; readonly plan: FaultPlan; readonly death: 'before' | 'after' }
  | { readonly what: 'recovery'; readonly at: number }
  | { readonly what: 'once'; readonly plan: FaultPlan }
  /** The name of what a second writer does. */
  | { readonly what: 'meet'; readonly plan: FaultPlan; readonly deed: string }
  | { readonly what: 'meet in recovery'; readonly at: number; readonly deed: string }

/** What the test says to the worker. */
export type Request =
  | { readonly journey: string; readonly work: Work | { readonly what: 'points' } }
  | { readonly isNew: boolean }

/** What the worker says: a question about a state, or its answer. */
export type Reply =
  | { readonly state: string }
  | { readonly tally: Tally }
  | { readonly points: readonly string[] }
  | { readonly failed: string }

export interface FaultWorkerOptions {
  readonly runnerOptions: RunnerOptions
  readonly name: string
  readonly shimmed: boolean
  readonly program: string
  /** The states that any worker has seen. */
  readonly seen: Set<string>
}

export class FaultWorker {
  readonly #process: ChildProcess
  #settle: ((reply: Reply) => void) | undefined

  constructor({ runnerOptions, name, shimmed, program, seen }: FaultWorkerOptions) {
    const args = [JSON.stringify(runnerOptions), name, String(shimmed)]
    this.#process = fork(program, args, { execArgv: ['--max-old-space-size=48', '--max-semi-space-size=1'] })
    this.#process.on('message', (reply: Reply) => {
      if (!('state' in reply)) return this.#settle?.(reply)
      this.#process.send({ isNew: !seen.has(reply.state) } satisfies Request)
      seen.add(reply.state)
    })
    this.#process.on('exit', (code, signal) =>
      this.#settle?.({ failed: `the worker ended (${code ?? signal})` }),
    )
  }

  async tally(journey: string, work: Work): Promise<Tally> {
    const reply = await this.#ask({ journey, work })
    if ('tally' in reply) return reply.tally
    throw new Error(JSON.stringify(reply))
  }

  async points(journey: string): Promise<readonly string[]> {
    const reply = await this.#ask({ journey, work: { what: 'points' } })
    if ('points' in reply) return reply.points
    throw new Error(JSON.stringify(reply))
  }

  /** One request at a time. */
  #ask(request: Request): Promise<Reply> {
    return new Promise((resolve) => {
      this.#settle = resolve
      this.#process.send(request)
    })
  }

  end(): void {
    this.#process.disconnect()
  }
}
