/** The conflict forecast: what meets what, in which order to land, and what has changed since the last one. Pure. */
import { counted } from '../base/counted.ts'
import type { Conflict } from '../model/tree.ts'

/** `same-file`: both change a file, and it merges cleanly. `unknown`: it cannot be told, and `why` says why. */
type Level = 'none' | 'same-file' | 'conflict' | 'unknown'

/** What happens where the work of a task meets something else. */
export interface Meeting {
  readonly level: Level
  /** The files of the task that the other side has changed as well. */
  readonly files: readonly string[]
  readonly conflicts: readonly Conflict[]
  readonly why?: string | undefined
}

export interface TaskForecast {
  readonly uid: string
  readonly task: string
  /** The last step, which the forecast is made from. */
  readonly step: number
  /** How many files it would land. */
  readonly files: number
  /** The branch that it was started from; null: from none. */
  readonly branch: string | null
  readonly target: Meeting
  /** The checkout as it is, with uncommitted changes: what `accept --as patch` would do. */
  readonly checkout: Meeting
}

/** What happens to `second` once `first` has landed. */
export interface PairForecast extends Meeting {
  readonly first: string
  readonly second: string
  /** Where both were tried out: in the checkout, or, if one of them does not land there, on the files that one started from. */
  readonly on: 'checkout' | 'start'
}

/** A task that would land now, and conflict once another one has landed. */
export interface LaterConflict {
  readonly task: string
  readonly conflicts: readonly Conflict[]
}

export interface OrderedTask {
  readonly task: string
  readonly why: string
}

export interface Forecast {
  readonly at: string
  /** The checkout that tasks land in. */
  readonly checkout: string
  /** Tasks that count as landed, in this order, before anything else is tried out. */
  readonly after: readonly TaskForecast[]
  /** Oldest first, without those of `after`. */
  readonly tasks: readonly TaskForecast[]
  /** The pairs that meet in a file. */
  readonly pairs: readonly PairForecast[]
  readonly order: readonly OrderedTask[]
}

/** Nothing of the other side touches the work. */
export const apart: Meeting = { level: 'none', files: [], conflicts: [] }

export function meeting(files: readonly string[], conflicts: readonly Conflict[]): Meeting {
  const level = conflicts.length > 0 ? 'conflict' : files.length > 0 ? 'same-file' : 'none'
  return { level, files, conflicts }
}

export function unknown(why: string): Meeting {
  return { level: 'unknown', files: [], conflicts: [], why }
}

/** Whether the task would land in the checkout now. */
function landsNow({ checkout }: Pick<TaskForecast, 'checkout'>): boolean {
  return checkout.level === 'none' || checkout.level === 'same-file'
}

/**
 * An order of landing: always the task that conflicts with the fewest of those that are left, and of several such the oldest.
 * Tasks that do not land now come last. `tasks` are in the order of their age.
 */
export function landingOrder(
  tasks: readonly Pick<TaskForecast, 'task' | 'checkout' | 'files'>[],
  pairs: readonly Pick<PairForecast, 'first' | 'second' | 'level'>[],
): OrderedTask[] {
  const rivals = new Map(tasks.map(({ task }) => [task, new Set<string>()]))
  for (const { first, second } of pairs.filter(({ level }) => level === 'conflict')) {
    rivals.get(first)?.add(second)
    rivals.get(second)?.add(first)
  }
  const rivalsIn = (task: string, others: readonly string[]) =>
    others.filter((other) => rivals.get(task)?.has(other))
  const order: OrderedTask[] = []
  const work = tasks.filter(({ files }) => files > 0)
  let left = work.filter(landsNow).map(({ task }) => task)
  while (left.length > 0) {
    const counts = left.map((task) => rivalsIn(task, left).length)
    const fewest = Math.min(...counts)
    const next = left[counts.indexOf(fewest)] ?? ''
    const isTie = fewest > 0 && counts.filter((count) => count === fewest).length > 1
    const before = order.map(({ task }) => task)
    order.push({ task: next, why: whyNext(rivalsIn(next, before), rivalsIn(next, left), isTie) })
    left = left.filter((task) => task !== next)
  }
  for (const { task, checkout } of work.filter((one) => !landsNow(one)))
    order.push({ task, why: whyLast(checkout) })
  return order
}

function whyNext(before: readonly string[], left: readonly string[], isTie: boolean): string {
  if (before.length > 0)
    return `It conflicts with ${before.join(', ')}: update it when ${before.length === 1 ? 'that has' : 'those have'} landed.`
  if (left.length === 0) return 'It conflicts with no other task.'
  const oldest = isTie ? ', and is the oldest of those' : ''
  return `It conflicts with the fewest others (${left.join(', ')})${oldest}.`
}

function whyLast({ level, conflicts, why }: Meeting): string {
  if (level === 'unknown') return `It cannot land now: ${why}`
  return `It would not land: it conflicts with your checkout in ${counted(conflicts.length, 'file')}.`
}

/** What a task conflicts with, for a mark in a list. */
export interface Mark {
  readonly task: string
  /** Ids of other tasks, `target` and `checkout`. */
  readonly conflicts: readonly string[]
  /** The task, or one that it conflicts with, has gone on since: the mark may be wrong. */
  readonly outdated: boolean
}

type Standing = Pick<TaskForecast, 'uid' | 'step'>

/** The marks of open tasks; a task that the forecast does not know has an outdated one, unless it has no step. */
export function marksOf(
  { tasks, pairs }: Pick<Forecast, 'tasks' | 'pairs'>,
  open: readonly (Standing & { readonly task: string })[],
): Mark[] {
  const now = new Map(open.map(({ task, uid, step }) => [task, { uid, step }]))
  const then = new Map(tasks.map((one) => [one.task, one]))
  const isAsItWas = (task: string) => {
    const [was, is] = [then.get(task), now.get(task)]
    return was !== undefined && is !== undefined && was.uid === is.uid && was.step === is.step
  }
  return open.flatMap(({ task, step }): Mark[] => {
    const known = then.get(task)
    if (!known || !isAsItWas(task)) return step > 0 ? [{ task, conflicts: [], outdated: true }] : []
    const others = pairs.flatMap(({ first, second, level }) =>
      level !== 'conflict' ? [] : first === task ? [second] : second === task ? [first] : [],
    )
    // A rival that was closed does not count any more; what it left in the checkout is for the next forecast.
    const rivals = others.filter((other) => now.has(other))
    const places = (['target', 'checkout'] as const).filter((place) => known[place].level === 'conflict')
    return [{ task, conflicts: [...places, ...rivals], outdated: !rivals.every(isAsItWas) }]
  })
}

/** What a new forecast tells beyond the last one; all fields are empty when nothing has changed. */
export interface ForecastDifference {
  /** Tasks that are new, or whose own forecast is another one. */
  readonly tasks: readonly TaskForecast[]
  /** Pairs that meet otherwise than before; one that does not meet any more has the level `none`. */
  readonly pairs: readonly PairForecast[]
  /** Tasks that the new forecast does not have. */
  readonly gone: readonly string[]
  /** The new order, if it is another one. */
  readonly order?: readonly OrderedTask[] | undefined
}

export function differenceOf(before: Forecast | undefined, now: Forecast): ForecastDifference {
  const tasksBefore = new Map(before?.tasks.map((one) => [one.task, one]))
  const pairKey = ({ first, second }: PairForecast) => [first, second].sort().join('\n')
  const pairsBefore = new Map(before?.pairs.map((pair) => [pairKey(pair), pair]))
  const pairsNow = new Set(now.pairs.map(pairKey))
  const tasksNow = new Set(now.tasks.map(({ task }) => task))
  const parted = Array.from(pairsBefore)
    .filter(([key, { first, second }]) => !pairsNow.has(key) && tasksNow.has(first) && tasksNow.has(second))
    .map(([, pair]) => ({ ...pair, ...apart }))
  const isNew = (one: object | undefined, other: object) => JSON.stringify(one) !== JSON.stringify(other)
  return {
    tasks: now.tasks.filter((one) => isNew(tasksBefore.get(one.task), one)),
    pairs: [...now.pairs.filter((pair) => isNew(pairsBefore.get(pairKey(pair)), pair)), ...parted],
    gone: [...tasksBefore.keys()].filter((task) => !tasksNow.has(task)),
    ...(isNew(before?.order ?? [], now.order) && { order: now.order }),
  }
}
