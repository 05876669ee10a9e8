/** Plays a history, and looks at everything after each order. */
import { rmSync } from 'node:fs'
import { isOpen } from '../../src/core/task.ts'
import { Book, type Deed, findTask } from './model.ts'
import { type Build, builds } from '../support/builds.ts'
import { agentDoes, isRough, userDoes } from './user-and-agent.ts'
import { Ground, type Template } from './sim-fixture.ts'
import { type Order, told, type VerbOrder } from './history-actions.ts'
import { Hands, type Spares } from './executor.ts'
import { callFor } from './verb-calls.ts'
import { inVault, readWorld, vaultOf, type World } from './quick-snapshot.ts'

export interface Tally {
  actions: number
  verbs: number
  acknowledged: number
  /** Verbs that a fault struck, by its kind. */
  struck: Record<string, number>
  /** By verb, how many were asked for. */
  asked: Record<string, number>
}

export interface Played {
  /** One line per order, with what came of it. */
  readonly log: readonly string[]
  readonly anomalies: readonly string[]
  readonly tally: Tally
}

export interface Stage {
  readonly template: Template
  readonly home: string
  readonly spares: Spares
  readonly build: Build
}

const nobody: VerbOrder = { verb: 'remove', task: 'nobody', which: 0 }

export async function play(history: readonly Order[], stage: Stage): Promise<Played> {
  const player = new Player(stage)
  try {
    for (const order of history) if (!(await player.play(order))) break
    await player.close()
    return player
  } finally {
    rmSync(stage.home, { recursive: true, force: true })
  }
}

class Player implements Played {
  readonly log: string[] = []
  readonly anomalies: string[] = []
  readonly tally: Tally = { actions: 0, verbs: 0, acknowledged: 0, struck: {}, asked: {} }
  readonly #ground: Ground
  readonly #hands: Hands
  readonly #book: Book
  #world: World | undefined
  /** Something was struck, and nobody has recovered since. */
  #half = false

  constructor({ template, home, spares, build }: Stage) {
    this.#ground = new Ground(template, home, builds[build])
    this.#hands = new Hands(this.#ground, spares, build)
    this.#book = new Book(this.#ground)
  }

  /** Whether the history may go on. */
  async play(order: Order): Promise<boolean> {
    this.#world ??= await readWorld(this.#ground)
    this.tally.actions += 1
    const came = await this.#carryOut(order, this.#world)
    this.log.push(`${this.log.length + 1}. ${told(order)}: ${came}`)
    return this.anomalies.length === 0
  }

  async #carryOut(order: Order, world: World): Promise<string> {
    switch (order.who) {
      case 'user': {
        const came = userDoes(this.#ground, order.deed, order.which)
        if (order.deed === 'move') return `${came}, ${await this.#knownAgain()}`
        this.#world = await readWorld(this.#ground)
        if (order.deed === 'leave a lock')
          this.#book.theirs = this.#world.strays.filter((name) => name === 'index.lock')
        return came
      }
      case 'agent': {
        const task = findTask(world, order.task)
        const came = agentDoes(this.#ground, task && isOpen(task) ? task : undefined, order.deed, order.which)
        if (isRough(order.deed)) this.#book.rough(task)
        this.#world = await readWorld(this.#ground)
        return came
      }
      case 'offshoot':
        return this.#verbs([order.order], order.rests === true)
      case 'several':
        return this.#verbs(order.orders, false)
    }
  }

  async #verbs(orders: readonly VerbOrder[], rests: boolean): Promise<string> {
    const before = this.#world!
    const deeds: Deed[] = await Promise.all(
      orders.map(async (order) => {
        const call = callFor(order, this.#ground.dir, before)
        return { order, outcome: await this.#hands.do(call, order, orders.length > 1 ? true : undefined) }
      }),
    )
    for (const { order, outcome } of deeds) this.#count(order, outcome.struck, outcome.acknowledged)
    const struck = deeds.some(({ outcome }) => outcome.struck !== undefined)
    // One that only looks puts nothing right.
    const looks = orders.every(({ verb }) => verb === 'prune')
    const alone = !this.#half
    this.#half = struck || (this.#half && looks)
    const recovers = this.#half && !rests && !(looks && !struck)
    const failed = recovers ? await this.#recover() : []
    this.#world = await readWorld(this.#ground)
    const wrong = await this.#book.check(before, this.#world, deeds, this.#half, alone)
    this.anomalies.push(...failed, ...wrong)
    return deeds.map(({ outcome }) => came(outcome)).join(' | ')
  }

  /** A repository that was moved is known again by the next start; what was under way is put right by the one after it. */
  async #knownAgain(): Promise<string> {
    const before = this.#world!
    const order: VerbOrder = { verb: 'start', task: 'T1', which: 0 }
    const outcome = await this.#hands.do(callFor(order, this.#ground.dir, before), order)
    this.#count(order, undefined, outcome.acknowledged)
    this.anomalies.push(...(await this.#recover()))
    this.#world = await readWorld(this.#ground)
    this.anomalies.push(...(await this.#book.check(before, this.#world, [], false, false)))
    return came(outcome)
  }

  /** The next command that writes, and by itself changes nothing. */
  async #recover(): Promise<string[]> {
    const call = { action: 'worktree.remove', input: { repo: this.#ground.dir, task: 'nobody' } } as const
    const { failed = '' } = await this.#hands.do(call, nobody)
    this.#half = false
    return /^WT_00[57] /.test(failed) ? [] : [`the next command: ${failed}`]
  }

  #count({ verb, fault }: VerbOrder, struck: string | undefined, acknowledged: boolean): void {
    this.tally.verbs += 1
    this.tally.acknowledged += Number(acknowledged)
    this.tally.asked[verb] = (this.tally.asked[verb] ?? 0) + 1
    if (struck !== undefined && fault)
      this.tally.struck[fault.kind] = (this.tally.struck[fault.kind] ?? 0) + 1
  }

  /** Both repositories are sound, and recovery has nothing more to do. */
  async close(): Promise<void> {
    if (this.anomalies.length > 0) return
    if (this.#half) await this.#verbs([nobody], false)
    const before = this.#world!
    const sound = ['fsck', '--connectivity-only', '--no-dangling', '--no-progress']
    const wrong = async (what: string, work: Promise<unknown>) => {
      await work.catch(({ stdout, stderr, message }: { stdout?: string; stderr?: string; message: string }) =>
        this.anomalies.push(`${what}: ${`${stdout ?? ''}${stderr ?? ''}`.trim() || message}`),
      )
    }
    await wrong('the repository', this.#ground.git(...sound))
    if (vaultOf(this.#ground)) await wrong('the vault', inVault(this.#ground, ...sound))
    this.anomalies.push(...(await this.#recover()))
    const after = await readWorld(this.#ground)
    this.anomalies.push(...(await this.#book.check(before, after, [], false, false)))
  }
}

function came({ acknowledged, failed, struck }: Deed['outcome']): string {
  const how = acknowledged ? 'done' : failed === undefined ? 'killed' : failed.slice(0, 6)
  return struck === undefined ? how : `${how}, struck at ${struck}`
}
