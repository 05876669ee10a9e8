/** A second writer at one effect of a journey, and what must hold afterwards: P1 and P2 are theirs as well. */
import { lstatSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { appError } from '../../src/core/model/errors.ts'
import { call } from '../support/call.ts'
import type { FaultPlan } from '../support/faults.ts'
import type { Deed, Trace } from './deeds.ts'
import { contentsOf, difference, readTree, type Tree } from './folder-tree.ts'
import { readSnapshot, type Snapshot } from './full-snapshot.ts'
import { here, runChild, type Tally } from './inject.ts'
import { isSound, nextCommand, settled } from './invariants.ts'
import type { Baseline, Fixture, JourneyRunner } from './journey-runner.ts'
import type { Journey } from './journeys.ts'
import type { Summary } from './summary.ts'
import { inVault } from './vault-checks.ts'

/** What the second writer did, and the files as they were just before. */
interface Meeting {
  readonly trace: Trace
  readonly found: Tree
}

interface Ending {
  readonly acknowledged: boolean
  /** What the verb answered or threw. */
  readonly said: unknown
}

/** For one effect: zero points when there is none of that number, or nothing could be done there. */
export async function meetSecondWriter(
  runner: JourneyRunner,
  journey: Journey,
  plan: FaultPlan,
  deed: Deed,
): Promise<Tally> {
  const baseline = await runner.reset(journey)
  const { deedOf, meeting } = meets(baseline, journey, deed)
  const seen = await here(baseline.fixture, journey, plan, deedOf)
  const met = meeting()
  if (!met) return { points: 0, anomalies: [] }
  const wrong = await aftermath(baseline, journey, met, seen)
  return { points: 1, anomalies: wrong.map((one) => `at ${plan.at} (${seen.hit}): ${one}`) }
}

/** The verb is killed; somebody writes at each effect of the recovery in turn. */
export async function meetInRecovery(
  runner: JourneyRunner,
  journey: Journey,
  at: number,
  deed: Deed,
): Promise<Tally> {
  const baseline = await runner.reset(journey)
  const killed = await runChild(runner.start(journey, journey.name, { kind: 'kill', at, when: 'before' }))
  const bringBack = await runner.keep(journey)
  const recovery: Pick<Journey, 'act'> = { act: (ports) => call(ports, 'system.recover', {}) }
  const anomalies: string[] = []
  let points = 0
  for (let n = 1; ; n++) {
    if (n > 1) await bringBack()
    const { deedOf, meeting } = meets(baseline, journey, deed)
    const plan: FaultPlan = { kind: 'meanwhile', at: n, when: 'before' }
    const seen = await here(baseline.fixture, recovery, plan, deedOf)
    if (seen.hit === undefined) return { points, anomalies }
    const met = meeting()
    if (!met) continue
    points += 1
    const wrong = await aftermath(baseline, journey, met, { ...seen, acknowledged: killed.acknowledged })
    anomalies.push(...wrong.map((one) => `killed at ${at}, at ${n} (${seen.hit}): ${one}`))
  }
}

function meets({ fixture, before }: Baseline, journey: Journey, deed: Deed) {
  let met: Meeting | undefined
  const root = rootOf(fixture, journey, before)
  const deedOf = () => {
    const found = readFiles(root)
    try {
      met ??= { found, trace: deed.act(root, fixture.env) }
    } catch (thrown) {
      // There is nothing there to rename or to replace.
      if (!['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST'].includes((thrown as NodeJS.ErrnoException).code ?? ''))
        throw thrown
    }
  }
  return { deedOf, meeting: () => met }
}

/** The folder in which the journey writes files that are not its own. */
function rootOf({ dir }: Fixture, { writes }: Journey, before: Snapshot): string {
  return writes === 'workspace' ? (before.open[0]?.path ?? dir) : dir
}

function readFiles(root: string): Tree {
  return readTree(root, (name) => name === '.git')
}

async function aftermath(
  baseline: Baseline,
  journey: Journey,
  { trace, found }: Meeting,
  ending: Ending,
): Promise<string[]> {
  const { fixture, before } = baseline
  try {
    await nextCommand(fixture, journey)
    const after = await readSnapshot(fixture)
    const root = rootOf(fixture, journey, before)
    const more = (part: 'operations' | 'open') => after[part].length > before[part].length
    const done = more('operations') || more('open')
    return [
      ...(ending.acknowledged && !done ? ['it was acknowledged, and there is no such operation'] : []),
      ...(await keeps(baseline, journey, trace, after)),
      ...(await isHalf(baseline, journey, trace, done)),
      ...(done ? await tells(baseline, journey, { trace, found }, root) : []),
      ...settled(after),
      ...(await isSound(fixture)),
    ]
  } catch (thrown) {
    return [`recovery threw ${appError(thrown).stack}`]
  }
}

/** Every byte of the second writer is where they put it; on a shadow branch or in a workspace it may also be kept. */
async function keeps(
  { fixture, before }: Baseline,
  journey: Journey,
  { wrote, left, staged, commit }: Trace,
  after: Snapshot,
): Promise<string[]> {
  const root = rootOf(fixture, journey, before)
  const inPlace = wrote.filter(({ file, line }) => !readText(path.join(root, file)).includes(line))
  const held = journey.writes === 'checkout' ? new Set<string>() : await heldIn(fixture, after)
  const [index, log] = [
    await fixture.git('-C', root, 'ls-files', '--stage'),
    await fixture.git('log', '--all', '--reflog', '--format=%H%n%T', '--raw', '--no-abbrev', '-m'),
  ]
  const isKept = (oid: string) => held.has(oid)
  const isLeft = left === undefined || kindOf(path.join(root, left.file)) === left.is
  return [
    ...inPlace.filter(({ oid }) => !isKept(oid)).map(({ file }) => `the line in ${file} is lost`),
    ...(isLeft || journey.writes !== 'checkout' ? [] : [`${left?.file} is not ${left?.is} any more`]),
    ...(staged && !index.includes(staged.oid) && !log.includes(staged.oid) && !isKept(staged.oid)
      ? [`what was staged of ${staged.file} is lost`]
      : []),
    ...(commit && !log.includes(commit) ? ['the commit is lost'] : []),
    ...(readText(path.join(path.dirname(root), 'outside.txt'), 'outside\n') === 'outside\n'
      ? []
      : ['a file outside was written']),
  ]
}

/** Every content that the vault, the trash, a workspace or the checkout has. */
async function heldIn(fixture: Fixture, after: Snapshot): Promise<Set<string>> {
  const kept = await inVault(fixture, 'rev-list', '--objects', '--all')
  const trees = [after.user, ...Object.values(after.workspaces), ...Object.values(after.trash)]
  return new Set([...kept.split('\n').map((one) => one.slice(0, 40)), ...trees.flatMap(contentsOf)])
}

/** A4: all files that the second writer let alone are as after the verb, or all are as before it; so is the index. */
async function isHalf(
  { fixture, before, summaries }: Baseline,
  journey: Journey,
  { touched }: Trace,
  done: boolean,
): Promise<string[]> {
  if (!summaries) return []
  const root = rootOf(fixture, journey, before)
  const side = done ? summaries.after : summaries.before
  const isTouched = (file: string) => touched.some((one) => file === one || file.startsWith(`${one}/`))
  const ownFiles = (tree: Tree) =>
    Object.fromEntries(Object.entries(tree).filter(([file]) => file !== '.git' && !isTouched(file)))
  const inIndex = (lines: readonly string[]) =>
    Object.fromEntries(
      lines
        .map((one) => [one.split('\t')[1] ?? '', one] as const)
        .filter(([file]) => file !== '' && !isTouched(file)),
    )
  const index = (await fixture.git('ls-files', '--stage')).split('\n')
  return [
    ...difference(ownFiles(filesOf(side, journey, root)), ownFiles(readFiles(root))),
    ...difference(inIndex(side.index), inIndex(index)).map((one) => `index: ${one}`),
  ].map((one) => `${done ? 'done' : 'not done'}, but ${one}`)
}

function filesOf(side: Summary, { writes }: Journey, root: string): Tree {
  return writes === 'workspace' ? (side.workspaces[path.basename(root)] ?? {}) : side.files
}

/** A file that the verb was to change, and that is exactly as the second writer left it, is reported. */
async function tells(
  { fixture, summaries }: Baseline,
  journey: Journey,
  { trace, found }: Meeting,
  root: string,
): Promise<string[]> {
  if (!summaries || journey.writes !== 'checkout') return []
  const [from, to] = [summaries.before, summaries.after].map((side) => filesOf(side, journey, root))
  const now = readFiles(root)
  const reported = await leftOf(fixture)
  return trace.touched.flatMap((file) => {
    const isPlanned = from?.[file] !== to?.[file] && from?.[file] === found[file]
    const written = trace.wrote.find((one) => one.file === file)
    const isAsLeft = written !== undefined && contentsOf({ [file]: now[file] ?? '' })[0] === written.oid
    return isPlanned && isAsLeft && !reported.includes(file)
      ? [`${file} did not land, and nobody is told`]
      : []
  })
}

/** The paths that the last operation says it left alone. */
async function leftOf(fixture: Fixture): Promise<readonly string[]> {
  const ports = fixture.ports()
  try {
    const [last] = (await ports.store.readEvents({ types: ['operation.done'] })).toReversed()
    return last?.event.type === 'operation.done' ? last.event.left : []
  } finally {
    await ports.close()
  }
}

function kindOf(file: string): 'gone' | 'a link' | 'a folder' | 'a file' {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (!found) return 'gone'
  return found.isSymbolicLink() ? 'a link' : found.isDirectory() ? 'a folder' : 'a file'
}

function readText(file: string, otherwise = ''): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return otherwise
  }
}
