/** What must hold after recovery, whatever was struck where. Each function answers what is wrong, in words. */
import { setTimeout as pause } from 'node:timers/promises'
import { call } from '../support/call.ts'
import { AppError, appError } from '../../src/core/errors.ts'
import type { Journey } from './journeys.ts'
import { holdsAll, isKnown, keepsEverything } from './kept.ts'
import type { Scene, Stage } from './lane.ts'
import { type Picture, takePicture, unlike } from './picture.ts'
import { difference, readTree } from './tree.ts'
import { findVault, ourBranch, readWorld, runningFor, type World } from './world.ts'

/** The next command that writes, and by itself changes nothing: it removes a task that never was. */
export async function nextCommand(stage: Stage, journey: Pick<Journey, 'next'> = {}): Promise<void> {
  const ports = stage.ports()
  try {
    if (journey.next) await journey.next(ports, stage.dir)
    else await call(ports, 'worktree.remove', { repo: stage.dir, task: 'nobody' })
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'WT_007') throw thrown
  } finally {
    await ports.close()
  }
}

/**
 * Whether such a world has not been seen yet: going on from there takes most of the time, and is tried from each kind of
 * world once.
 */
export type IsNew = (world: string) => boolean | Promise<boolean>

export async function inspect(
  scene: Scene,
  journey: Journey,
  acknowledged: boolean,
  isNew: IsNew,
): Promise<string[]> {
  const { stage, before, pictures } = scene
  const wrong = runningFor(stage).map(({ pid, command }) => `process ${pid} still runs: ${command}`)
  if (wrong.length > 0) await ended(stage)
  const after = await readWorld(stage)
  const done = after.operations.length + after.open.length > before.operations.length + before.open.length
  const landed = pictures !== undefined && (done || after.operations.length > before.operations.length)
  wrong.push(
    ...(landed ? await isWhole(scene, pictures.after, after, acknowledged) : untouched(before, after)),
    ...(pictures && !landed ? isUndone(before, after, acknowledged) : []),
    ...settled(after),
    ...(journey.check?.({ before, after, acknowledged }) ?? []),
    ...(await tasksAreWhole(stage, before, after)),
    ...(await keepsEverything(stage, before, after)),
    ...(acknowledged ? await holdsAll(stage, before, after) : []),
    ...(await isSound(stage)),
    ...(await recoversNothing(stage, after)),
  )
  if (wrong.length > 0) return wrong
  if (!(await isNew(`${journey.name} ${landed} ${outlined(stage, after)}`))) return []
  if (!pictures) return worksAgain(stage, journey, before)
  return landed
    ? canBeUndone(scene, journey, after, pictures.before)
    : canBeRepeated(scene, journey, pictures.after)
}

/** A world that has passed so far, as to all in which it can differ from another one that has. */
function outlined(stage: Stage, world: World): string {
  const { trash, registrations, workspaces, steps, operations } = world
  const [branch, ...refs] = [world.ourRefs[ourBranch], ...Object.keys(world.ourRefs)]
  const tasks = [...world.open, ...world.closed].map(
    ({ state, reason, unpublished, checkpoints, runs, head }) => {
      return [state, reason === undefined, unpublished === undefined, checkpoints, runs, head === branch]
    },
  )
  const listed = [trash, registrations, workspaces].map((trees) => Object.values(trees).map(Object.keys))
  const trees = Object.values(steps).map((line) => line.map((step) => step.tree))
  const vault = Object.keys(readTree(findVault(stage) ?? 'none', (name) => /objects|operations/.test(name)))
    .map((name) => name.replaceAll(/\b\d+\b/g, 'n'))
    .filter((name) => !name.endsWith('.tmp'))
  return JSON.stringify([tasks, refs, listed, trees, vault, operations.length]).replaceAll(
    /[0-9a-v]{20}/g,
    'id',
  )
}

/** What a survivor does after recovery counts as well, so it gets some time for it. */
async function ended(stage: Stage): Promise<void> {
  await untilAlone(stage)
  for (const { pid } of runningFor(stage)) process.kill(pid, 'SIGKILL')
}

/** Until all have ended by themselves, or a while has passed. */
export async function untilAlone(stage: Stage): Promise<void> {
  const deadline = performance.now() + 1_000
  while (runningFor(stage).length > 0 && performance.now() < deadline) await pause(10)
}

/** P1. */
function untouched(before: World, after: World): string[] {
  return [
    ...difference(before.user, after.user),
    ...difference(before.refs, after.refs),
    ...(before.status === after.status ? [] : ['git status of the checkout changed']),
  ].map((line) => `P1: ${line}`)
}

/** P1, A4: everything that an undisturbed run comes to, and nothing else. */
async function isWhole(
  scene: Scene,
  expected: Picture,
  after: World,
  acknowledged: boolean,
): Promise<string[]> {
  const found = await takePicture(scene.stage, scene.before, after)
  const hook = 'a hook' in after.user ? ['P4: a hook ran'] : []
  // Publishing comes after an operation is done: the branch follows with the next command that publishes.
  const follows = !acknowledged || after.open.some((task) => task.unpublished !== undefined)
  const compared = (picture: Picture) =>
    follows ? { ...picture, ourRefs: without(picture.ourRefs) } : picture
  return [...hook, ...unlike(compared(expected), compared(found)).map((line) => `not whole, ${line}`)]
}

function without(refs: World['ourRefs']): World['ourRefs'] {
  const { [ourBranch]: _, ...rest } = refs
  return rest
}

/** A4: nothing of the operation; only the step before it may have been taken and published. */
function isUndone(before: World, after: World, acknowledged: boolean): string[] {
  const uids = ({ open, closed, registrations }: World) => ({
    open: open.map(({ uid }) => uid),
    closed: closed.map(({ uid }) => uid),
    registrations: Object.keys(registrations),
  })
  return [
    ...(acknowledged ? ['it was acknowledged, and there is no such operation'] : []),
    ...difference(before.workspaces, after.workspaces),
    // A repository that has been taken in stays known.
    ...difference(without(before.ourRefs), without(after.ourRefs)).filter(
      (line) => line !== 'refs/offshoot/repo appeared',
    ),
    ...difference(uids(before), uids(after)),
  ].map((line) => `undone, but ${line}`)
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
    const then = before.workspaces[name]
    const steps = after.steps[task.uid]
    // One that began with what the user had not committed was never clean.
    const worked = before.steps[task.uid] ?? (steps?.[0]?.summary === '' ? undefined : steps)
    const known = worked && (await isKnown(stage, files, then, steps))
    const status = known ? '' : await stage.git('-C', task.path, 'status', '--porcelain').catch(appError)
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
  const failed = await plays(stage, 'start afterwards', (ports) =>
    journey.again
      ? journey.again(ports, stage.dir)
      : call(ports, 'task.start', { repo: stage.dir, task: 'T1' }),
  )
  if (failed.length > 0) return failed
  const after = await readWorld(stage)
  return [
    ...untouched(before, after),
    ...settled(after),
    ...(after.open.length === 1 && Object.keys(after.workspaces).length === 1 ? [] : ['no workspace']),
    ...(await tasksAreWhole(stage, before, after)),
  ].map((line) => `start afterwards: ${line}`)
}

/** What came to nothing comes to the same as ever when it is asked for again. */
async function canBeRepeated(
  { stage, before }: Scene,
  journey: Journey,
  expected: Picture,
): Promise<string[]> {
  const failed = await plays(stage, 'repeated', (ports) => journey.act(ports, stage.dir))
  if (failed.length > 0) return failed
  const after = await readWorld(stage)
  const lines = [...unlike(expected, await takePicture(stage, before, after)), ...settled(after)]
  return lines.map((line) => `repeated: ${line}`)
}

const broughtBack = ['files', 'git', 'index', 'status', 'refs', 'workspaces', 'registrations'] as const

/** P3. */
async function canBeUndone(
  { stage, before }: Scene,
  journey: Journey,
  landed: World,
  expected: Picture,
): Promise<string[]> {
  const operation = landed.operations[0]?.id
  const failed = await plays(stage, 'undone', (ports) =>
    journey.back
      ? journey.back(ports, stage.dir)
      : call(ports, 'system.undo', { repo: stage.dir, operation }),
  )
  if (failed.length > 0) return failed
  const after = await readWorld(stage)
  const lines = [
    ...unlike(expected, await takePicture(stage, before, after), [...broughtBack]),
    ...settled(after),
  ]
  return lines.map((line) => `undone: ${line}`)
}

async function plays(
  stage: Stage,
  what: string,
  act: (ports: ReturnType<Stage['ports']>) => Promise<unknown>,
): Promise<string[]> {
  const ports = stage.ports()
  try {
    await act(ports)
    return []
  } catch (thrown) {
    return [`${what}: ${appError(thrown).code} ${appError(thrown).message}`]
  } finally {
    await ports.close()
  }
}
