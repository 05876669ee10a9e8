/** What must hold after recovery, whatever was hit where. Each function answers what is wrong, in words. */
import { setTimeout as pause } from 'node:timers/promises'
import { call } from '../support/call.ts'
import { AppError, appError } from '../../src/core/model/errors.ts'
import type { Journey } from './journeys.ts'
import { holdsAll, isKnown, keepsEverything } from './vault-checks.ts'
import type { Baseline, Fixture } from './journey-runner.ts'
import { type Summary, summarize, unlike } from './summary.ts'
import { difference, readTree } from './folder-tree.ts'
import { findVault, ourBranch, readSnapshot, runningFor, type Snapshot } from './full-snapshot.ts'

/** The next command that writes, and by itself changes nothing: it removes a task that never was. */
export async function nextCommand(fixture: Fixture, journey: Pick<Journey, 'next'> = {}): Promise<void> {
  const ports = fixture.ports()
  try {
    if (journey.next) await journey.next(ports, fixture.dir)
    else await call(ports, 'worktree.remove', { repo: fixture.dir, task: 'nobody' })
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'WT_007') throw thrown
  } finally {
    await ports.close()
  }
}

/**
 * Whether such a state has not been seen yet: going on from there takes most of the time, and is tried from each kind of
 * state once.
 */
export type IsNew = (state: string) => boolean | Promise<boolean>

export async function inspect(
  baseline: Baseline,
  journey: Journey,
  acknowledged: boolean,
  isNew: IsNew,
): Promise<string[]> {
  const { fixture, before, summaries } = baseline
  const wrong = runningFor(fixture).map(({ pid, command }) => `process ${pid} still runs: ${command}`)
  if (wrong.length > 0) await ended(fixture)
  const after = await readSnapshot(fixture)
  const done = after.operations.length + after.open.length > before.operations.length + before.open.length
  const landed = summaries !== undefined && (done || after.operations.length > before.operations.length)
  wrong.push(
    ...(landed ? await isWhole(baseline, summaries.after, after, acknowledged) : untouched(before, after)),
    ...(summaries && !landed ? isUndone(before, after, acknowledged) : []),
    ...settled(after),
    ...(journey.check?.({ before, after, acknowledged }) ?? []),
    ...(await tasksAreWhole(fixture, before, after)),
    ...(await keepsEverything(fixture, before, after)),
    ...(acknowledged ? await holdsAll(fixture, before, after) : []),
    ...(await isSound(fixture)),
    ...(await recoversNothing(fixture, after)),
  )
  if (wrong.length > 0) return wrong
  if (!(await isNew(`${journey.name} ${landed} ${outlined(fixture, after)}`))) return []
  if (!summaries) return worksAgain(fixture, journey, before)
  return landed
    ? canBeUndone(baseline, journey, after, summaries.before)
    : canBeRepeated(baseline, journey, summaries.after)
}

/** A state that has passed so far, as to all in which it can differ from another one that has. */
function outlined(fixture: Fixture, snapshot: Snapshot): string {
  const { trash, registrations, workspaces, steps, operations } = snapshot
  const [branch, ...refs] = [snapshot.ourRefs[ourBranch], ...Object.keys(snapshot.ourRefs)]
  const tasks = [...snapshot.open, ...snapshot.closed].map(
    ({ state, reason, unpublished, checkpoints, runs, head }) => {
      return [state, reason === undefined, unpublished === undefined, checkpoints, runs, head === branch]
    },
  )
  const listed = [trash, registrations, workspaces].map((trees) => Object.values(trees).map(Object.keys))
  const trees = Object.values(steps).map((line) => line.map((step) => step.tree))
  const vault = Object.keys(readTree(findVault(fixture) ?? 'none', (name) => /objects|operations/.test(name)))
    .map((name) => name.replaceAll(/\b\d+\b/g, 'n'))
    .filter((name) => !name.endsWith('.tmp'))
  return JSON.stringify([tasks, refs, listed, trees, vault, operations.length]).replaceAll(
    /[0-9a-v]{20}/g,
    'id',
  )
}

/** What a survivor does after recovery counts as well, so it gets some time for it. */
async function ended(fixture: Fixture): Promise<void> {
  await untilAlone(fixture)
  for (const { pid } of runningFor(fixture)) process.kill(pid, 'SIGKILL')
}

/** Until all have ended by themselves, or a while has passed. */
export async function untilAlone(fixture: Fixture): Promise<void> {
  const deadline = performance.now() + 1_000
  while (runningFor(fixture).length > 0 && performance.now() < deadline) await pause(10)
}

/** P1. */
function untouched(before: Snapshot, after: Snapshot): string[] {
  return [
    ...difference(before.user, after.user),
    ...difference(before.refs, after.refs),
    ...(before.status === after.status ? [] : ['git status of the checkout changed']),
  ].map((line) => `P1: ${line}`)
}

/** P1, A4: everything that an undisturbed run comes to, and nothing else. */
async function isWhole(
  baseline: Baseline,
  expected: Summary,
  after: Snapshot,
  acknowledged: boolean,
): Promise<string[]> {
  const found = await summarize(baseline.fixture, baseline.before, after)
  const hook = 'a hook' in after.user ? ['P4: a hook ran'] : []
  // Publishing comes after an operation is done: the branch follows with the next command that publishes.
  const follows = !acknowledged || after.open.some((task) => task.unpublished !== undefined)
  const compared = (summary: Summary) =>
    follows ? { ...summary, ourRefs: without(summary.ourRefs) } : summary
  return [...hook, ...unlike(compared(expected), compared(found)).map((line) => `not whole, ${line}`)]
}

function without(refs: Snapshot['ourRefs']): Snapshot['ourRefs'] {
  const { [ourBranch]: _, ...rest } = refs
  return rest
}

/** A4: nothing of the operation; only the step before it may have been taken and published. */
function isUndone(before: Snapshot, after: Snapshot, acknowledged: boolean): string[] {
  const uids = ({ open, closed, registrations }: Snapshot) => ({
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
export function settled(after: Snapshot): string[] {
  return [
    ...after.pending.map((task) => `${task.pending?.verb} of ${task.id} is still pending`),
    ...after.strays.map((name) => `${name} is left`),
    ...after.children.map((name) => `the record of the child ${name} is left`),
  ]
}

/** An open task has all of its parts, and nobody else has any; only a missing folder is for `start` to mend. */
async function tasksAreWhole(fixture: Fixture, before: Snapshot, after: Snapshot): Promise<string[]> {
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
    const known = worked && (await isKnown(fixture, files, then, steps))
    const status = known ? '' : await fixture.git('-C', task.path, 'status', '--porcelain').catch(appError)
    if (status !== '') wrong.push(`the workspace is not clean: ${status}`)
  }
  const names = new Set(after.open.map((task) => task.path.split('/').at(-1)!))
  const orphans = Object.keys(after.workspaces).filter((name) => !names.has(name))
  wrong.push(...orphans.map((name) => `the workspace ${name} belongs to nobody`))
  return wrong
}

export async function isSound(fixture: Fixture): Promise<string[]> {
  return fixture.git('fsck', '--connectivity-only', '--no-dangling', '--no-progress').then(
    () => [],
    (thrown: unknown) => [`git fsck: ${appError(thrown).message}`],
  )
}

/** Recovery is idempotent: there is nothing to report and nothing changes. */
async function recoversNothing(fixture: Fixture, after: Snapshot): Promise<string[]> {
  const ports = fixture.ports()
  try {
    const { recovered } = await call(ports, 'system.recover', {})
    const again = await readSnapshot(fixture)
    return [
      ...recovered.map(({ verdict, why }) => `recover once more: ${verdict}, ${why}`),
      ...difference({ ...after }, { ...again }).map((line) => `recover once more: ${line}`),
    ]
  } finally {
    await ports.close()
  }
}

async function worksAgain(fixture: Fixture, journey: Journey, before: Snapshot): Promise<string[]> {
  const failed = await plays(fixture, 'start afterwards', (ports) =>
    journey.again
      ? journey.again(ports, fixture.dir)
      : call(ports, 'task.start', { repo: fixture.dir, task: 'T1' }),
  )
  if (failed.length > 0) return failed
  const after = await readSnapshot(fixture)
  return [
    ...untouched(before, after),
    ...settled(after),
    ...(after.open.length === 1 && Object.keys(after.workspaces).length === 1 ? [] : ['no workspace']),
    ...(await tasksAreWhole(fixture, before, after)),
  ].map((line) => `start afterwards: ${line}`)
}

/** What came to nothing comes to the same as ever when it is asked for again. */
async function canBeRepeated(
  { fixture, before }: Baseline,
  journey: Journey,
  expected: Summary,
): Promise<string[]> {
  const failed = await plays(fixture, 'repeated', (ports) => journey.act(ports, fixture.dir))
  if (failed.length > 0) return failed
  const after = await readSnapshot(fixture)
  const lines = [...unlike(expected, await summarize(fixture, before, after)), ...settled(after)]
  return lines.map((line) => `repeated: ${line}`)
}

const broughtBack = ['files', 'git', 'index', 'status', 'refs', 'workspaces', 'registrations'] as const

/** P3. */
async function canBeUndone(
  { fixture, before }: Baseline,
  journey: Journey,
  landed: Snapshot,
  expected: Summary,
): Promise<string[]> {
  const operation = landed.operations[0]?.id
  const failed = await plays(fixture, 'undone', (ports) =>
    journey.back
      ? journey.back(ports, fixture.dir)
      : call(ports, 'system.undo', { repo: fixture.dir, operation }),
  )
  if (failed.length > 0) return failed
  const after = await readSnapshot(fixture)
  const lines = [
    ...unlike(expected, await summarize(fixture, before, after), [...broughtBack]),
    ...settled(after),
  ]
  return lines.map((line) => `undone: ${line}`)
}

async function plays(
  fixture: Fixture,
  what: string,
  act: (ports: ReturnType<Fixture['ports']>) => Promise<unknown>,
): Promise<string[]> {
  const ports = fixture.ports()
  try {
    await act(ports)
    return []
  } catch (thrown) {
    return [`${what}: ${appError(thrown).code} ${appError(thrown).message}`]
  } finally {
    await ports.close()
  }
}
