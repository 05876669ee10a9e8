/** Strikes one effect of a journey, recovers, and tells what is wrong. */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { call } from '../support/call.ts'
import { appError } from '../../src/core/errors.ts'
import type { Build } from '../support/builds.ts'
import { type Plan, withFault } from '../support/faults.ts'
import type { Death } from '../support/faults-shim.ts'
import { inspect, type IsNew, nextCommand, untilAlone } from './invariants.ts'
import type { Journey } from './journeys.ts'
import type { Lane, Scene, Stage } from './lane.ts'
import { difference } from './tree.ts'
import { readWorld, type World } from './world.ts'

export interface Tally {
  readonly points: number
  /** Each with the journey, the fault, the effect and what was wrong. */
  readonly anomalies: readonly string[]
}

interface Played {
  /** The effect that the fault struck; undefined when it struck none. */
  readonly struck: string | undefined
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
export async function pointsOf(lane: Lane, journey: Journey): Promise<readonly string[]> {
  await lane.reset(journey)
  return (await played(lane.play(journey, journey.name, undefined))).points
}

export async function strike(
  lane: Lane,
  journey: Journey,
  plan: Plan,
  alone: boolean,
  isNew: IsNew | false,
  build: Build = 'whole',
): Promise<Tally> {
  const { scene, seen, beside } = await attempt(lane, journey, plan, alone, build)
  if (seen.struck === undefined) return { points: 0, anomalies: [] }
  return told(scene, journey, plan, seen, beside, isNew)
}

async function told(
  scene: Scene,
  journey: Journey,
  plan: Plan,
  seen: Played,
  beside: readonly string[],
  isNew: IsNew | false,
): Promise<Tally> {
  // Nobody knows of such a child, so nobody ends it. It has nothing to do, and ends; until then it must do no harm.
  const after = plan.child === 'unrecorded' ? untilAlone : undefined
  const anomalies = [...beside, ...(await aftermath(scene, journey, seen.acknowledged, isNew, after))]
  return { points: 1, anomalies: anomalies.map((line) => `at ${plan.at} (${seen.struck}): ${line}`) }
}

async function attempt(
  lane: Lane,
  journey: Journey,
  plan: Plan,
  alone: boolean,
  build: Build,
): Promise<{ readonly scene: Scene; readonly seen: Played; readonly beside: readonly string[] }> {
  const scene = await lane.reset(journey)
  const { stage } = scene
  const beside: string[] = []
  const onHang = async (child: ChildProcess) => {
    beside.push(...(await leavesAlone(stage)))
    child.kill('SIGKILL')
  }
  const seen = alone
    ? await played(lane.play(journey, journey.name, plan, build), plan.kind === 'hang' ? onHang : undefined)
    : await here(stage, journey, plan)
  return { scene, seen, beside }
}

/** Git dies before or after a call of it, and we live on. */
export function strikeAround(
  lane: Lane,
  journey: Journey,
  plan: Plan,
  n: Death,
  isNew: IsNew,
): Promise<Tally> {
  return strike(lane, journey, { ...plan, shimmed: { n, shim: lane.shim! } }, plan.kind === 'kill', isNew)
}

/** Git dies at each system call in turn. */
export async function strikeInside(lane: Lane, journey: Journey, plan: Plan, isNew: IsNew): Promise<Tally> {
  const found: Tally[] = []
  for (let n = 1; ; n++) {
    const one = await strikeAround(lane, journey, plan, n, isNew)
    if (one.points === 0) return total(found, '')
    found.push(total([one], `call ${n},`))
  }
}

/** Without `isNew` there is no recovery. */
async function aftermath(
  scene: Scene,
  journey: Journey,
  acknowledged: boolean,
  isNew: IsNew | false,
  then?: (stage: Stage) => Promise<void>,
): Promise<string[]> {
  try {
    if (isNew) await nextCommand(scene.stage, journey)
    await then?.(scene.stage)
    return await inspect(scene, journey, acknowledged, isNew || (() => true))
  } catch (thrown) {
    return [`recovery threw ${appError(thrown).stack}`]
  }
}

/**
 * The sweep has not stopped too early: one effect further there is none. Where two tasks side by side sync what they
 * wrote one by one, not together as when we counted, there is: those effects are struck as well.
 */
export async function completes(
  lane: Lane,
  journey: Journey,
  plan: Plan,
  alone: boolean,
  isNew: IsNew,
): Promise<Tally> {
  const { scene, seen, beside } = await attempt(lane, journey, plan, alone, 'whole')
  if (seen.struck !== undefined) {
    const further = await told(scene, journey, plan, seen, beside, isNew)
    return total([further, await completes(lane, journey, { ...plan, at: plan.at + 1 }, alone, isNew)], '')
  }
  const anomalies = seen.acknowledged ? await inspect(scene, journey, true, isNew) : ['it does not complete']
  return { points: 0, anomalies: anomalies.map((line) => `without a fault: ${line}`) }
}

export async function strikeRecovery(lane: Lane, journey: Journey, at: number, isNew: IsNew): Promise<Tally> {
  const scene = await lane.reset(journey)
  const first = await played(lane.play(journey, journey.name, { kind: 'kill', at, when: 'before' }))
  const bringBack = await lane.keep(journey)
  const anomalies: string[] = []
  for (let n = 1; ; n++) {
    if (n > 1) await bringBack()
    const plan: Plan = { kind: 'kill', at: n, when: n % 2 ? 'after' : 'before' }
    const second = await played(lane.play(journey, 'recover', plan))
    if (second.struck === undefined) return { points: n - 1, anomalies }
    const wrong = await aftermath(scene, journey, first.acknowledged, isNew)
    anomalies.push(
      ...wrong.map((line) => `at ${at} (${first.struck}), then ${n} (${second.struck}): ${line}`),
    )
  }
}

/** Plays it in this process: enough for faults that nobody dies of. */
async function here(stage: Stage, journey: Journey, plan: Plan): Promise<Played> {
  let struck: string | undefined
  const cancel = new AbortController()
  const fault = withFault(
    plan,
    (point) => (struck = point),
    () => cancel.abort(),
  )
  const ports = stage.ports(fault.around)
  const acknowledged = await journey.act(ports, stage.dir, cancel.signal).then(
    () => true,
    () => false,
  )
  await ports.close()
  return { struck, acknowledged, points: fault.points }
}

/** Reads what the process says until it has ended; `onHang` is to end one that hangs. */
export async function played(
  child: ChildProcess,
  onHang?: (child: ChildProcess) => Promise<void>,
): Promise<Played> {
  const ended = new Promise((resolve) => child.once('close', resolve))
  let said = ''
  let ending: Promise<void> | undefined
  child.stdout!.on('data', (chunk: Buffer) => {
    said += chunk
    if (/^struck .*\n/m.test(said)) ending ??= onHang?.(child)
  })
  await ended
  await ending
  const done = /^done \d+ (.+)$/m.exec(said)?.[1]
  return {
    struck: /^struck (.+)$/m.exec(said)?.[1],
    acknowledged: /^acknowledged$/m.test(said),
    points: done === undefined ? [] : (JSON.parse(done) as string[]),
  }
}

/** A command beside one that lives, however long it hangs, touches nothing of it. Its other children may end. */
async function leavesAlone(stage: Stage): Promise<string[]> {
  const before = await atRest(stage)
  const ports = stage.ports()
  try {
    const { recovered } = await call(ports, 'system.recover', {})
    return [
      ...recovered
        .filter(({ verdict }) => verdict !== 'left alone')
        .map(({ verdict }) => `meanwhile ${verdict}`),
      ...difference(before, await atRest(stage)).map((line) => `meanwhile ${line}`),
    ]
  } catch (thrown) {
    return [`meanwhile threw ${appError(thrown).stack}`]
  } finally {
    await ports.close()
  }
}

/** What it did beside the effect that hangs it brings to an end: then it looks the same twice. */
async function atRest(stage: Stage): Promise<Partial<World>> {
  const look = async () => {
    const { children: _, ...world } = await readWorld(stage)
    return world
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
