/**
 * One lane in a process of its own, which plays, strikes and looks. Starting a git takes the longer the more memory has
 * whoever starts it, and the process of the test has much.
 */
import { type ChildProcess, fork } from 'node:child_process'
import type { Build } from '../support/builds.ts'
import type { Plan } from '../support/faults.ts'
import type { Grounds } from './journey-runner.ts'
import type { Tally } from './inject.ts'

export type Work =
  | {
      readonly what: 'strike'
      readonly plan: Plan
      readonly alone: boolean
      readonly recovers: boolean
      readonly build: Build
    }
  | { readonly what: 'complete'; readonly plan: Plan; readonly alone: boolean }
  | { readonly what: 'inside'; readonly plan: Plan }
  | { readonly what: 'around'; readonly plan: Plan; readonly death: 'before' | 'after' }
  | { readonly what: 'recovery'; readonly at: number }

/** What the test says to the hand. */
export type Order =
  | { readonly journey: string; readonly work: Work | { readonly what: 'points' } }
  | { readonly isNew: boolean }

/** What the hand says: a question about a world, or its answer. */
export type Reply =
  | { readonly world: string }
  | { readonly tally: Tally }
  | { readonly points: readonly string[] }
  | { readonly failed: string }

export interface HandOptions {
  readonly grounds: Grounds
  readonly name: string
  readonly shimmed: boolean
  readonly program: string
  /** The worlds that any hand has seen. */
  readonly seen: Set<string>
}

export class Hand {
  readonly #process: ChildProcess
  #settle: ((reply: Reply) => void) | undefined

  constructor({ grounds, name, shimmed, program, seen }: HandOptions) {
    const args = [JSON.stringify(grounds), name, String(shimmed)]
    this.#process = fork(program, args, { execArgv: ['--max-old-space-size=48', '--max-semi-space-size=1'] })
    this.#process.on('message', (reply: Reply) => {
      if (!('world' in reply)) return this.#settle?.(reply)
      this.#process.send({ isNew: !seen.has(reply.world) } satisfies Order)
      seen.add(reply.world)
    })
    this.#process.on('exit', (code, signal) =>
      this.#settle?.({ failed: `the hand ended (${code ?? signal})` }),
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

  /** One order at a time. */
  #ask(order: Order): Promise<Reply> {
    return new Promise((resolve) => {
      this.#settle = resolve
      this.#process.send(order)
    })
  }

  end(): void {
    this.#process.disconnect()
  }
}
