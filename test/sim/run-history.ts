/** Runs a history, and looks at everything after each action. */
import { rmSync } from 'node:fs'
import { isOpen } from '../../src/core/model/task.ts'
import { Model, type Executed, findTask } from './model.ts'
import { type Build, builds } from '../support/builds.ts'
import { agentDoes, isRough, userDoes } from './user-and-agent.ts'
import { SimFixture, type Template } from './sim-fixture.ts'
import { type HistoryAction, told, type VerbRequest } from './history-actions.ts'
import { Executor, type SpareProcesses } from './executor.ts'
import { callFor } from './verb-calls.ts'
import { inVault, readSnapshot, vaultOf, type Snapshot } from './quick-snapshot.ts'

export interface Tally {
  actions: number
  verbs: number
  acknowledged: number
  /** Verbs that a fault hit, by its kind. */
  hit: Record<string, number>
  /** By verb, how many were asked for. */
  asked: Record<string, number>
}

export interface HistoryResult {
  /** One line per action, with what came of it. */
  readonly log: readonly string[]
  readonly anomalies: readonly string[]
  readonly tally: Tally
}

export interface RunOptions {
  readonly template: Template
  readonly home: string
  readonly spares: SpareProcesses
  readonly build: Build
}

const nobody: VerbRequest = { verb: 'remove', task: 'nobody', which: 0 }

export async function runHistory(
  history: readonly HistoryAction[],
  options: RunOptions,
): Promise<HistoryResult> {
  const run = new HistoryRun(options)
  try {
    for (const action of history) if (!(await run.next(action))) break
    await run.close()
    return run
  } finally {
    rmSync(options.home, { recursive: true, force: true })
  }
}

class HistoryRun implements HistoryResult {
  readonly log: string[] = []
  readonly anomalies: string[] = []
  readonly tally: Tally = { actions: 0, verbs: 0, acknowledged: 0, hit: {}, asked: {} }
  readonly #fixture: SimFixture
  readonly #executor: Executor
  readonly #model: Model
  #snapshot: Snapshot | undefined
  /** Something was hit, and nobody has recovered since. */
  #half = false

  constructor({ template, home, spares, build }: RunOptions) {
    this.#fixture = new SimFixture(template, home, builds[build])
    this.#executor = new Executor(this.#fixture, spares, build)
    this.#model = new Model(this.#fixture)
  }

  /** Whether the history may go on. */
  async next(action: HistoryAction): Promise<boolean> {
    this.#snapshot ??= await readSnapshot(this.#fixture)
    this.tally.actions += 1
    const came = await this.#carryOut(action, this.#snapshot)
    this.log.push(`${this.log.length + 1}. ${told(action)}: ${came}`)
    return this.anomalies.length === 0
  }

  async #carryOut(action: HistoryAction, snapshot: Snapshot): Promise<string> {
    switch (action.who) {
      case 'user': {
        const came = userDoes(this.#fixture, action.does, action.which)
        if (action.does === 'move') return `${came}, ${await this.#knownAgain()}`
        this.#snapshot = await readSnapshot(this.#fixture)
        if (action.does === 'leave a lock')
          this.#model.theirs = this.#snapshot.strays.filter((name) => name === 'index.lock')
        return came
      }
      case 'agent': {
        const task = findTask(snapshot, action.task)
        const came = agentDoes(
          this.#fixture,
          task && isOpen(task) ? task : undefined,
          action.does,
          action.which,
        )
        if (isRough(action.does)) this.#model.rough(task)
        this.#snapshot = await readSnapshot(this.#fixture)
        return came
      }
      case 'offshoot':
        return this.#verbs([action.request], action.rests === true)
      case 'several':
        return this.#verbs(action.requests, false)
    }
  }

  async #verbs(requests: readonly VerbRequest[], rests: boolean): Promise<string> {
    const before = this.#snapshot!
    const executed: Executed[] = await Promise.all(
      requests.map(async (request) => {
        const call = callFor(request, this.#fixture.dir, before)
        return {
          request,
          outcome: await this.#executor.do(call, request, requests.length > 1 ? true : undefined),
        }
      }),
    )
    for (const { request, outcome } of executed) this.#count(request, outcome.hit, outcome.acknowledged)
    const hit = executed.some(({ outcome }) => outcome.hit !== undefined)
    // One that only looks puts nothing right.
    const looks = requests.every(({ verb }) => verb === 'prune')
    const alone = !this.#half
    this.#half = hit || (this.#half && looks)
    const recovers = this.#half && !rests && !(looks && !hit)
    const failed = recovers ? await this.#recover() : []
    this.#snapshot = await readSnapshot(this.#fixture)
    const wrong = await this.#model.check(before, this.#snapshot, executed, this.#half, alone)
    this.anomalies.push(...failed, ...wrong)
    return executed.map(({ outcome }) => came(outcome)).join(' | ')
  }

  /** A repository that was moved is known again by the next start; what was under way is put right by the one after it. */
  async #knownAgain(): Promise<string> {
    const before = this.#snapshot!
    const request: VerbRequest = { verb: 'start', task: 'T1', which: 0 }
    const outcome = await this.#executor.do(callFor(request, this.#fixture.dir, before), request)
    this.#count(request, undefined, outcome.acknowledged)
    this.anomalies.push(...(await this.#recover()))
    this.#snapshot = await readSnapshot(this.#fixture)
    this.anomalies.push(...(await this.#model.check(before, this.#snapshot, [], false, false)))
    return came(outcome)
  }

  /** The next command that writes, and by itself changes nothing. */
  async #recover(): Promise<string[]> {
    const call = { action: 'worktree.remove', input: { repo: this.#fixture.dir, task: 'nobody' } } as const
    const { failed = '' } = await this.#executor.do(call, nobody)
    this.#half = false
    return /^WT_00[57] /.test(failed) ? [] : [`the next command: ${failed}`]
  }

  #count({ verb, fault }: VerbRequest, hit: string | undefined, acknowledged: boolean): void {
    this.tally.verbs += 1
    this.tally.acknowledged += Number(acknowledged)
    this.tally.asked[verb] = (this.tally.asked[verb] ?? 0) + 1
    if (hit !== undefined && fault) this.tally.hit[fault.kind] = (this.tally.hit[fault.kind] ?? 0) + 1
  }

  /** Both repositories are sound, and recovery has nothing more to do. */
  async close(): Promise<void> {
    if (this.anomalies.length > 0) return
    if (this.#half) await this.#verbs([nobody], false)
    const before = this.#snapshot!
    const sound = ['fsck', '--connectivity-only', '--no-dangling', '--no-progress']
    const wrong = async (what: string, work: Promise<unknown>) => {
      await work.catch(({ stdout, stderr, message }: { stdout?: string; stderr?: string; message: string }) =>
        this.anomalies.push(`${what}: ${`${stdout ?? ''}${stderr ?? ''}`.trim() || message}`),
      )
    }
    await wrong('the repository', this.#fixture.git(...sound))
    if (vaultOf(this.#fixture)) await wrong('the vault', inVault(this.#fixture, ...sound))
    this.anomalies.push(...(await this.#recover()))
    const after = await readSnapshot(this.#fixture)
    this.anomalies.push(...(await this.#model.check(before, after, [], false, false)))
  }
}

function came({ acknowledged, failed, hit }: Executed['outcome']): string {
  const how = acknowledged ? 'done' : failed === undefined ? 'killed' : failed.slice(0, 6)
  return hit === undefined ? how : `${how}, hit at ${hit}`
}
