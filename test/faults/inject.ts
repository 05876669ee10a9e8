/** Injects one fault into a journey, recovers, and tells what is wrong. */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { call } from '../support/call.ts'
import { appError } from '../../src/core/model/errors.ts'
import type { Build } from '../support/builds.ts'
import { type FaultPlan, withFault } from '../support/faults.ts'
import type { Death } from '../support/faults-shim.ts'
import { inspect, type IsNew, nextCommand, untilAlone } from './invariants.ts'
import type { Journey } from './journeys.ts'
import type { JourneyRunner, Baseline, Fixture } from './journey-runner.ts'
import { difference } from './folder-tree.ts'
import { readSnapshot, type Snapshot } from './full-snapshot.ts'

export interface Tally {
  readonly points: number
  /** Each with the journey, the fault, the effect and what was wrong. */
  readonly anomalies: readonly string[]
}

interface ChildRun {
  /** The effect that the fault hit; undefined when it hit none. */
  readonly hit: string | undefined
  readonly acknowledged: boolean
  /** All effects, when it came to its end. */
  readonly points: readonly string[]
}

export function total(tallies: readonly Tally[], prefix: string): Tally {
  return {
    points: tallies.reduce((sum, { points }) => sum + points, 0),
    anomalies: tallies.flatMap(({ anomalies }) => anomalies.map((line) => `${prefix} ${line}`.trim())),
  }
}

/** The effects of the journey when nothing goes wrong. */
export async function pointsOf(runner: JourneyRunner, journey: Journey): Promise<readonly string[]> {
  await runner.reset(journey)
  return (await runChild(runner.start(journey, journey.name, undefined))).points
}

export async function injectFault(
  runner: JourneyRunner,
  journey: Journey,
  plan: FaultPlan,
  alone: boolean,
  isNew: IsNew | false,
  build: Build = 'whole',
): Promise<Tally> {
  const { baseline, seen, beside } = await attempt(runner, journey, plan, alone, build)
  if (seen.hit === undefined) return { points: 0, anomalies: [] }
  return told(baseline, journey, plan, seen, beside, isNew)
}

async function told(
  baseline: Baseline,
  journey: Journey,
  plan: FaultPlan,
  seen: ChildRun,
  beside: readonly string[],
  isNew: IsNew | false,
): Promise<Tally> {
  // Nobody knows of such a child, so nobody ends it. It has nothing to do, and ends; until then it must do no harm.
  const after = plan.child === 'unrecorded' ? untilAlone : undefined
  const anomalies = [...beside, ...(await aftermath(baseline, journey, seen.acknowledged, isNew, after))]
  return { points: 1, anomalies: anomalies.map((line) => `at ${plan.at} (${seen.hit}): ${line}`) }
}

async function attempt(
  runner: JourneyRunner,
  journey: Journey,
  plan: FaultPlan,
  alone: boolean,
  build: Build,
): Promise<{ readonly baseline: Baseline; readonly seen: ChildRun; readonly beside: readonly string[] }> {
  const baseline = await runner.reset(journey)
  const { fixture } = baseline
  const beside: string[] = []
  const onHang = async (child: ChildProcess) => {
    beside.push(...(await leavesAlone(fixture)))
    child.kill('SIGKILL')
  }
  const seen = alone
    ? await runChild(
        runner.start(journey, journey.name, plan, build),
        plan.kind === 'hang' ? onHang : undefined,
      )
    : await here(fixture, journey, plan)
  return { baseline, seen, beside }
}

/** Git dies before or after a call of it, and we live on. */
export function injectAroundGit(
  runner: JourneyRunner,
  journey: Journey,
  plan: FaultPlan,
  n: Death,
  isNew: IsNew,
): Promise<Tally> {
  return injectFault(
    runner,
    journey,
    { ...plan, shimmed: { n, shim: runner.shim! } },
    plan.kind === 'kill',
    isNew,
  )
}

/** Git dies at each system call in turn. */
export async function injectInsideGit(
  runner: JourneyRunner,
  journey: Journey,
  plan: FaultPlan,
  isNew: IsNew,
): Promise<Tally> {
  const found: Tally[] = []
  for (let n = 1; ; n++) {
    const one = await injectAroundGit(runner, journey, plan, n, isNew)
    if (one.points === 0) return total(found, '')
    found.push(total([one], `call ${n},`))
  }
}

/** Without `isNew` there is no recovery. */
async function aftermath(
  baseline: Baseline,
  journey: Journey,
  acknowledged: boolean,
  isNew: IsNew | false,
  then?: (fixture: Fixture) => Promise<void>,
): Promise<string[]> {
  try {
    if (isNew) await nextCommand(baseline.fixture, journey)
    await then?.(baseline.fixture)
    return await inspect(baseline, journey, acknowledged, isNew || (() => true))
  } catch (thrown) {
    return [`recovery threw ${appError(thrown).stack}`]
  }
}

/**
 * The sweep has not stopped too early: one effect further there is none. Where two tasks side by side sync what they
 * wrote one by one, not together as when we counted, there is: those effects are hit as well.
 */
export async function completes(
  runner: JourneyRunner,
  journey: Journey,
  plan: FaultPlan,
  alone: boolean,
  isNew: IsNew,
): Promise<Tally> {
  const { baseline, seen, beside } = await attempt(runner, journey, plan, alone, 'whole')
  if (seen.hit !== undefined) {
    const further = await told(baseline, journey, plan, seen, beside, isNew)
    return total([further, await completes(runner, journey, { ...plan, at: plan.at + 1 }, alone, isNew)], '')
  }
  const anomalies = seen.acknowledged
    ? await inspect(baseline, journey, true, isNew)
    : ['it does not complete']
  return { points: 0, anomalies: anomalies.map((line) => `without a fault: ${line}`) }
}

export async function injectIntoRecovery(
  runner: JourneyRunner,
  journey: Journey,
  at: number,
  isNew: IsNew,
): Promise<Tally> {
  const baseline = await runner.reset(journey)
  const first = await runChild(runner.start(journey, journey.name, { kind: 'kill', at, when: 'before' }))
  const bringBack = await runner.keep(journey)
  const anomalies: string[] = []
  for (let n = 1; ; n++) {
    if (n > 1) await bringBack()
    const plan: FaultPlan = { kind: 'kill', at: n, when: n % 2 ? 'after' : 'before' }
    const second = await runChild(runner.start(journey, 'recover', plan))
    if (second.hit === undefined) return { points: n - 1, anomalies }
    const wrong = await aftermath(baseline, journey, first.acknowledged, isNew)
    anomalies.push(...wrong.map((line) => `at ${at} (${first.hit}), then ${n} (${second.hit}): ${line}`))
  }
}

/** The disk fails once and is well again: the same process is asked a second time, and may not have forgotten anything. */
export async function injectOnce(
  runner: JourneyRunner,
  journey: Journey,
  plan: FaultPlan,
  isNew: IsNew,
): Promise<Tally> {
  const baseline = await runner.reset(journey)
  const again: Pick<Journey, 'act'> = {
    act: (ports, dir) => journey.act(ports, dir).catch(() => journey.act(ports, dir)),
  }
  const seen = await here(baseline.fixture, again, plan)
  if (seen.hit === undefined) return { points: 0, anomalies: [] }
  return told(baseline, journey, plan, seen, [], isNew)
}

/** Plays it in this process: enough for faults that nobody dies of. */
export async function here(
  fixture: Fixture,
  journey: Pick<Journey, 'act'>,
  plan: FaultPlan,
  deed?: () => void,
): Promise<ChildRun & { readonly said: unknown }> {
  let hit: string | undefined
  const cancel = new AbortController()
  const fault = withFault(plan, (point) => (hit = point), deed ?? (() => cancel.abort()))
  const ports = fixture.ports(fault.around)
  const ended = await journey.act(ports, fixture.dir, cancel.signal).then(
    (said) => ({ acknowledged: true, said }),
    (said: unknown) => ({ acknowledged: false, said }),
  )
  await ports.close()
  return { hit, points: fault.points, ...ended }
}

/** Reads what the process says until it has ended; `onHang` is to end one that hangs. */
export async function runChild(
  child: ChildProcess,
  onHang?: (child: ChildProcess) => Promise<void>,
): Promise<ChildRun> {
  const ended = new Promise((resolve) => child.once('close', resolve))
  let said = ''
  let ending: Promise<void> | undefined
  child.stdout!.on('data', (chunk: Buffer) => {
    said += chunk
    if (/^hit .*\n/m.test(said)) ending ??= onHang?.(child)
  })
  await ended
  await ending
  const done = /^done \d+ (.+)$/m.exec(said)?.[1]
  return {
    hit: /^hit (.+)$/m.exec(said)?.[1],
    acknowledged: /^acknowledged$/m.test(said),
    points: done === undefined ? [] : (JSON.parse(done) as string[]),
  }
}

/** A command beside one that lives, however long it hangs, touches nothing of it. Its other children may end. */
async function leavesAlone(fixture: Fixture): Promise<string[]> {
  const before = await atRest(fixture)
  const ports = fixture.ports()
  try {
    const { recovered } = await call(ports, 'system.recover', {})
    return [
      ...recovered
        .filter(({ verdict }) => verdict !== 'left alone')
        .map(({ verdict }) => `meanwhile ${verdict}`),
      ...difference(before, await atRest(fixture)).map((line) => `meanwhile ${line}`),
    ]
  } catch (thrown) {
    return [`meanwhile threw ${appError(thrown).stack}`]
  } finally {
    await ports.close()
  }
}

/** What it did beside the effect that hangs it brings to an end: then it looks the same twice. */
async function atRest(fixture: Fixture): Promise<Partial<Snapshot>> {
  const look = async () => {
    const { children: _, ...rest } = await readSnapshot(fixture)
    return rest
  }
  // A file that went while we looked.
  const glance = () => look().catch(() => undefined)
  for (let last = await glance(); ; ) {
    await pause(150)
    const now = await glance()
    if (last && now && difference(last, now).length === 0) return now
    last = now
  }
}
