/** Injects a fault at every single effect of a journey, with all workers at once. */
import type { Build } from '../support/builds.ts'
import { fits, type FaultPlan } from '../support/faults.ts'
import type { FaultWorker, Work } from './fault-worker.ts'
import type { Journey } from './journeys.ts'
import { type Kind, writingGit } from './fault-kinds.ts'
import { type Tally, total } from './inject.ts'

/** Work that waits for a free worker. */
export class FaultSweep {
  readonly #free: FaultWorker[]
  readonly #waiting: ((worker: FaultWorker) => void)[] = []
  readonly #points = new Map<string, Promise<readonly string[]>>()

  constructor(workers: readonly FaultWorker[]) {
    this.#free = [...workers]
  }

  /** For N = 1, 2, … until the journey completes without the fault having hit. */
  async everyPoint(journey: Journey, kind: Kind): Promise<Tally> {
    const count = await this.#count(journey, kind.plan.among)
    const { alone } = kind
    const tallies = await Promise.all([
      ...upTo(count).map((at) =>
        this.#tally(journey, {
          what: 'inject',
          plan: { ...kind.plan, at },
          alone,
          recovers: true,
          build: 'whole',
        }),
      ),
      this.#tally(journey, { what: 'complete', plan: { ...kind.plan, at: count + 1 }, alone }),
    ])
    return total(tallies, `${journey.name} × ${kind.name}`)
  }

  /** The same kills with a build that lacks something, or without any recovery: that is to be seen. */
  async everyKill(journey: Journey, build: Build, recovers: boolean): Promise<Tally> {
    const count = await this.#count(journey)
    const kills = upTo(count).map((at) => {
      const plan: FaultPlan = { kind: 'kill', when: 'before', at }
      return this.#tally(journey, { what: 'inject', plan, alone: true, recovers, build })
    })
    return total(await Promise.all(kills), `${journey.name}, ${build}`)
  }

  /** The same for each system call of each git that writes, with us dying then as well, or living on. */
  async everySystemCall(journey: Journey, kind: 'kill' | 'git'): Promise<Tally> {
    const found: Promise<Tally>[] = []
    for (const among of writingGit) {
      for (const at of upTo(await this.#count(journey, among))) {
        const plan: FaultPlan = { kind, at, among, when: 'during' }
        found.push(this.#tally(journey, { what: 'inside', plan }))
      }
    }
    const whose = kind === 'kill' ? 'we too' : 'we live'
    return total(await Promise.all(found), `${journey.name} × git dies inside, ${whose},`)
  }

  /** Each git in turn dies before it has begun, or when it has done its work and nobody has heard of it. */
  async everyGitCall(journey: Journey, death: 'before' | 'after'): Promise<Tally> {
    const among = '^git '
    const found = upTo(await this.#count(journey, among)).map((at) => {
      const plan: FaultPlan = { kind: 'git', at, among, when: 'during' }
      return this.#tally(journey, { what: 'around', plan, death })
    })
    return total(await Promise.all(found), `${journey.name} × git dies ${death},`)
  }

  /** A second kill at every effect of the recovery, from kills spread over the journey. */
  async everyPointOfRecovery(journey: Journey): Promise<Tally> {
    const count = await this.#count(journey)
    const apart = Math.ceil(count / startsOf(journey))
    const numbers = upTo(count).filter((at) => (count - at) % apart === 0)
    const tallies = await Promise.all(numbers.map((at) => this.#tally(journey, { what: 'recovery', at })))
    return total(tallies, `${journey.name} × kill in recovery`)
  }

  /** The fault goes away, and the same process tries again. */
  async everyFaultOnce(journey: Journey, { name, plan }: Kind): Promise<Tally> {
    const tallies = upTo(await this.#count(journey, plan.among)).map((at) =>
      this.#tally(journey, { what: 'once', plan: { ...plan, at } }),
    )
    return total(await Promise.all(tallies), `${journey.name} × ${name}`)
  }

  /** A second writer does the deed just before each effect: after everything that was read for it. */
  async everyMeeting(journey: Journey, deed: string): Promise<Tally> {
    const tallies = upTo(await this.#count(journey)).map((at) =>
      this.#tally(journey, { what: 'meet', plan: { kind: 'meanwhile', when: 'before', at }, deed }),
    )
    return total(await Promise.all(tallies), `${journey.name} × ${deed},`)
  }

  /** The same at every effect of the recovery, from kills spread over the journey. */
  async everyMeetingInRecovery(journey: Journey, deed: string): Promise<Tally> {
    const count = await this.#count(journey)
    const apart = Math.ceil(count / startsOf({}))
    const numbers = upTo(count).filter((at) => (count - at) % apart === 0)
    const tallies = numbers.map((at) => this.#tally(journey, { what: 'meet in recovery', at, deed }))
    return total(await Promise.all(tallies), `${journey.name} × ${deed}, in recovery,`)
  }

  async #count(journey: Journey, among?: string): Promise<number> {
    const known = this.#points.get(journey.name)
    const points = known ?? this.#inWorker((worker) => worker.points(journey.name))
    this.#points.set(journey.name, points)
    return (await points).filter(fits(among)).length
  }

  #tally(journey: Journey, work: Work): Promise<Tally> {
    return this.#inWorker((worker) => worker.tally(journey.name, work))
  }

  async #inWorker<T>(work: (worker: FaultWorker) => Promise<T>): Promise<T> {
    const worker =
      this.#free.pop() ?? (await new Promise<FaultWorker>((resolve) => this.#waiting.push(resolve)))
    try {
      return await work(worker)
    } finally {
      const next = this.#waiting.shift()
      if (next) next(worker)
      else this.#free.push(worker)
    }
  }
}

/** From how many kills on, spread evenly over the journey, the recovery is hit. */
export function startsOf({ main }: Pick<Journey, 'main'>): number {
  return main ? 16 : 8
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}
