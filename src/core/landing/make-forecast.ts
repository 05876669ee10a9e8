/** Makes a conflict forecast: tries out every landing and every pair (docs/adr/0059-a-forecast-lands-in-a-scratch-folder.md). */
import path from 'node:path'
import { now } from '../base/time.ts'
import { toText } from '../model/bytes.ts'
import { forecastFiles, vaultFolder } from '../model/layout.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import type { Work } from '../tasks/work.ts'
import { type Judged, judgeAll, pathsOf, tryPair } from './attempts.ts'
import { apart, type Forecast, landingOrder, type PairForecast, type TaskForecast } from './forecast.ts'
import { afterLanding } from './grounds.ts'
import { mergeMemory } from './merge-memory.ts'
import { type IdleTask, type OfferedTask, readOfferedTasks, readOpen } from './offered-tasks.ts'
import { overlappingPairs, sharedPaths } from './overlap.ts'
import { type TrialPorts, tryLandings } from './trial-ports.ts'

export interface MadeForecast {
  readonly forecast: Forecast
  /** The files of checkouts that it depends on. */
  readonly files: readonly string[]
}

export interface MakeOptions {
  readonly after?: readonly Task[] | undefined
  readonly only?: Task | undefined
  /** An earlier forecast, if nothing has happened since but steps: pairs of tasks that took none are taken over from it. */
  readonly since?: Forecast | undefined
  readonly signal?: AbortSignal | undefined
}

export async function makeForecast(ports: Ports, repo: Repo, options: MakeOptions): Promise<MadeForecast> {
  const open = await readOpen(ports, repo)
  const { after = [], only, since, signal } = options
  const made = { at: now(ports), checkout: repo.place.checkout ?? '' }
  const begun = open.find(({ checkpoints }) => checkpoints > 0)
  if (!begun) {
    const idle = (tasks: readonly Task[]) => tasks.map((task) => idleForecast({ task, checkout: apart }))
    return { forecast: { ...made, after: idle(after), tasks: idle(open), pairs: [], order: [] }, files: [] }
  }
  return withMemory({ ports, repo, task: begun, signal }, async (trial) => {
    const isFirst = ({ uid }: Task) => after.some((task) => task.uid === uid)
    const rest = open.filter((task) => !isFirst(task))
    const { offered: chain, others: idle } = await readOfferedTasks(trial, repo, after, open)
    const landed = await landChain(trial, chain)
    const { offered, others } = await readOfferedTasks(trial, repo, rest, open)
    const wanted = only ? withRivals(offered, only) : offered
    const reuse = reuseOf(since)
    const judged = await judgeAll(trial, landed.ground, wanted)
    const isWanted = ({ offered }: Judged) => !only || offered.task.uid === only.uid
    const rivals = rivalsOf(judged).filter((pair) => pair.some(isWanted))
    const tries = rivals.map(([one, other]) => async () => {
      return reuse(one, other) ?? tryPair(trial, landed.ground, one, other)
    })
    const pairs = await trial.runAll(tries)
    const met = pairs.filter(({ level }) => level !== 'none')
    const tasks = ordered(open, [...judged.map(taskForecast), ...others.map(idleForecast)])
    const first = ordered(after, [...landed.tasks, ...idle.map(idleForecast)])
    const forecast = { ...made, after: first, tasks, pairs: met, order: landingOrder(tasks, met) }
    return { forecast, files: filesOf(judged) }
  })
}

/** Runs the work with the merges of earlier forecasts, and keeps those that it adds, also if it fails or takes too long. */
export async function withMemory<T>(trying: Work, work: (trial: TrialPorts) => Promise<T>): Promise<T> {
  const { files, home } = trying.ports
  const { merges } = forecastFiles(vaultFolder(home, trying.repo.name))
  const memory = mergeMemory(await files.readText(merges))
  try {
    return await tryLandings(trying, memory, work)
  } finally {
    const text = memory.text()
    if (text !== undefined) await keepFile(files, merges, text)
  }
}

/** A forecast that cannot be kept, as on a full disk, is still one. */
export async function keepFile(files: Ports['files'], file: string, text: string): Promise<void> {
  await files.write(file, text, 0o600).catch(() => {})
}

/** Lands these tasks one after the other; one that does not land is left out, and its forecast says so. */
async function landChain(
  trial: TrialPorts,
  chain: readonly OfferedTask[],
): Promise<{ ground: TrialPorts; tasks: TaskForecast[] }> {
  let ground = trial
  const tasks: TaskForecast[] = []
  for (const offered of chain) {
    const [judged] = await judgeAll(trial, ground, [offered])
    if (judged) tasks.push(taskForecast(judged))
    const { repo, checkout } = offered
    if (judged?.landed) ground = afterLanding(ground, repo, checkout, judged.landed.moved)
  }
  return { ground, tasks }
}

/** The task, and those that change a file of its. */
function withRivals(offered: readonly OfferedTask[], { uid }: Task): OfferedTask[] {
  const own = offered.find(({ task }) => task.uid === uid)
  return offered.filter(
    ({ task, changes }) =>
      task.uid === uid || (own && sharedPaths(changes.keys(), own.changes.keys()).length > 0),
  )
}

/** The pairs that may have to do with each other, the older task first. */
function rivalsOf(judged: readonly Judged[]): [Judged, Judged][] {
  const pairs = new Map(overlappingPairs(judged.map(pathsOf)).map((pair) => [pair.join(), pair]))
  for (const [at, one] of judged.entries()) {
    // Where a file was renamed in the checkout, any file that another task adds or deletes may be taken for it.
    if (!one.landed?.looked) continue
    for (const [other, { landed, offered }] of judged.entries()) {
      const moves = landed && Array.from(offered.changes.values()).some(({ from, to }) => !from || !to)
      const pair: [number, number] = [Math.min(at, other), Math.max(at, other)]
      if (moves && other !== at) pairs.set(pair.join(), pair)
    }
  }
  return Array.from(pairs.values()).flatMap(([one, other]): [Judged, Judged][] => {
    const [first, second] = [judged[one], judged[other]]
    return first && second ? [[first, second]] : []
  })
}

/** Finds the pair in the last forecast, if neither task has taken a step since. */
function reuseOf(last: Forecast | undefined) {
  const known = new Map(last?.pairs.map((pair) => [[pair.first, pair.second].sort().join('\n'), pair]))
  const steps = new Map(last?.tasks.map(({ uid, step }) => [uid, step]))
  const isKnown = ({ task }: OfferedTask) => steps.get(task.uid) === task.checkpoints
  return ({ offered: one }: Judged, { offered: other }: Judged): PairForecast | undefined => {
    if (!last || !isKnown(one) || !isKnown(other)) return undefined
    const names = { first: one.task.id, second: other.task.id }
    return known.get([one.task.id, other.task.id].sort().join('\n')) ?? { ...names, ...apart, on: 'checkout' }
  }
}

/** The files of the checkouts that the landings looked at. */
function filesOf(judged: readonly Judged[]): string[] {
  const files = judged.flatMap((one) =>
    pathsOf(one).map((file) => path.join(one.offered.checkout, toText(file))),
  )
  return [...new Set(files)]
}

function taskForecast({ offered: { task, changes }, target, checkout }: Judged): TaskForecast {
  return { ...named(task), files: changes.size, target, checkout }
}

function idleForecast({ task, checkout }: IdleTask): TaskForecast {
  return { ...named(task), files: 0, target: apart, checkout }
}

function named({ uid, id, checkpoints, base }: Task) {
  return { uid, task: id, step: checkpoints, branch: base.branch }
}

function ordered(tasks: readonly Task[], forecasts: readonly TaskForecast[]): TaskForecast[] {
  const byUid = new Map(forecasts.map((forecast) => [forecast.uid, forecast]))
  return tasks.flatMap(({ uid }) => byUid.get(uid) ?? [])
}
