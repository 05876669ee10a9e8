/** What must hold after recovery, whatever was struck where. Each function answers what is wrong, in words. */
import { setTimeout as pause } from 'node:timers/promises'
import { call } from '../../src/api/handlers.ts'
import { AppError, appError } from '../../src/core/errors.ts'
import type { Journey } from './journeys.ts'
import type { Stage } from './lane.ts'
import { difference } from './tree.ts'
import { readWorld, runningFor, type World } from './world.ts'

/** The next command that writes, and by itself changes nothing: it removes a task that never was. */
export async function nextCommand(stage: Stage): Promise<void> {
  const ports = stage.ports()
  try {
    await call(ports, 'worktree.remove', { repo: stage.dir, task: 'nobody' })
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'WT_007') throw thrown
  } finally {
    await ports.close()
  }
}

export async function inspect(
  stage: Stage,
  journey: Journey,
  before: World,
  acknowledged: boolean,
): Promise<string[]> {
  const wrong = runningFor(stage).map(({ pid, command }) => `process ${pid} still runs: ${command}`)
  if (wrong.length > 0) await ended(stage)
  const after = await readWorld(stage)
  wrong.push(
    ...untouched(before, after),
    ...settled(after),
    ...journey.check({ before, after, acknowledged }),
  )
  wrong.push(...(await tasksAreWhole(stage, before, after)), ...(await isSound(stage)))
  wrong.push(...(await recoversNothing(stage, after)))
  if (wrong.length > 0) return wrong
  return worksAgain(stage, journey, before)
}

/** What a survivor does after recovery counts as well, so it gets some time for it. */
async function ended(stage: Stage): Promise<void> {
  const deadline = performance.now() + 1_000
  while (runningFor(stage).length > 0 && performance.now() < deadline) await pause(10)
  for (const { pid } of runningFor(stage)) process.kill(pid, 'SIGKILL')
}

/** P1. */
function untouched(before: World, after: World): string[] {
  return [
    ...difference(before.user, after.user),
    ...difference(before.refs, after.refs),
    ...(before.status === after.status ? [] : ['git status of the checkout changed']),
  ].map((line) => `P1: ${line}`)
}

/** P2: nothing is under way any more, and nothing half-made is left. */
function settled(after: World): string[] {
  return [
    ...after.pending.map((task) => `${task.pending?.verb} of ${task.id} is still pending`),
    ...after.strays.map((name) => `${name} is left`),
    ...after.children.map((name) => `the record of the child ${name} is left`),
  ]
}

/** An open task has all of its parts, and nobody else has any; only a missing folder is for `start` to mend. */
async function tasksAreWhole(stage: Stage, before: World, after: World): Promise<string[]> {
  const wrong: string[] = []
  const pins = Object.keys(after.ourRefs).filter((ref) => ref.startsWith('refs/offshoot/base/'))
  if (pins.length !== after.open.length) wrong.push(`${pins.length} pins for ${after.open.length} open tasks`)
  for (const task of after.open) {
    const name = task.path.split('/').at(-1)!
    const files = after.workspaces[name]
    if (files === undefined) continue
    const refs = { ...after.refs, ...after.ourRefs }
    if (after.registrations[name] === undefined) wrong.push('a workspace without registration')
    if (refs[`refs/heads/${task.branch}`] === undefined) wrong.push('a workspace without branch')
    const same = difference(before.workspaces[name] ?? {}, files).length === 0
    const status = same ? '' : await stage.git('-C', task.path, 'status', '--porcelain').catch(appError)
    if (status !== '') wrong.push(`the workspace is not clean: ${status}`)
  }
  const names = new Set(after.open.map((task) => task.path.split('/').at(-1)!))
  const orphans = Object.keys(after.workspaces).filter((name) => !names.has(name))
  wrong.push(...orphans.map((name) => `the workspace ${name} belongs to nobody`))
  return wrong
}

async function isSound(stage: Stage): Promise<string[]> {
  return stage.git('fsck', '--connectivity-only', '--no-dangling', '--no-progress').then(
    () => [],
    (thrown: unknown) => [`git fsck: ${appError(thrown).message}`],
  )
}

/** Recovery is idempotent: there is nothing to report and nothing changes. */
async function recoversNothing(stage: Stage, after: World): Promise<string[]> {
  const ports = stage.ports()
  try {
    const { recovered } = await call(ports, 'system.recover', {})
    const again = await readWorld(stage)
    return [
      ...recovered.map(({ verdict, why }) => `recover once more: ${verdict}, ${why}`),
      ...difference({ ...after }, { ...again }).map((line) => `recover once more: ${line}`),
    ]
  } finally {
    await ports.close()
  }
}

async function worksAgain(stage: Stage, journey: Journey, before: World): Promise<string[]> {
  const ports = stage.ports()
  try {
    if (journey.again) await journey.again(ports, stage.dir)
    else await call(ports, 'task.start', { repo: stage.dir, task: 'T1' })
  } catch (thrown) {
    return [`start afterwards: ${appError(thrown).code} ${appError(thrown).message}`]
  } finally {
    await ports.close()
  }
  const after = await readWorld(stage)
  return [
    ...untouched(before, after),
    ...settled(after),
    ...(after.open.length === 1 && Object.keys(after.workspaces).length === 1 ? [] : ['no workspace']),
    ...(await tasksAreWhole(stage, before, after)),
  ].map((line) => `start afterwards: ${line}`)
}
