/**
 * Keeps the forecasts of all repositories up to date: after each step, each landing, and each change of a target or a
 * checkout (docs/adr/0059-a-forecast-lands-in-a-scratch-folder.md).
 */
import type { TaskEvent } from '../model/events.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import type { Feed } from '../tasks/follow.ts'
import type { Forecast } from './forecast.ts'
import { readOpen } from './offered-tasks.ts'
import { areWritten, haveMoved, readTimes, type Times, watchedPlaces } from './watched-places.ts'

export interface Forecasts {
  /** The last forecast of each repository, by the id of the repository. */
  readonly last: ReadonlyMap<string, Forecast>
  /** Calls `changed` with the id of a repository whose forecast is a new one. */
  listen(changed: (repo: string) => void): () => void
  /** This process has appended to the log: looks in a moment. */
  wake(): void
  close(): Promise<void>
}

/** How often the log, the targets and the checkouts are looked at. While somebody listens, the log is looked at more often, by the feed. */
const lookMs = 1_000
/** The event itself is told first. */
const settleMs = 20
/** After a round there is a pause of so many times as long as the round took. */
const restTimes = 4
const longestRestMs = 5_000
/** One that takes longer is given up, so that the other repositories get theirs. */
const longestMs = 60_000
/** So many events are read at a time. */
const mostRead = 100

/** What is known of one repository. */
interface Kept {
  /** Undefined before the first one, and when the last could not be made. */
  forecast: Forecast | undefined
  times: Times
  /** What has happened since: nothing, steps alone, or anything. */
  due: 'nothing' | 'steps' | 'all'
}

/** Events after which more is different than the last step of a task. */
const farReaching: ReadonlySet<TaskEvent['type']> = new Set([
  'start.done',
  'start.undone',
  'run.ended',
  'operation.done',
  'operation.undone',
  'rebuilt',
  'moved',
])
const telling = [...farReaching, 'checkpoint' as const]

export function keepForecasts(ports: Ports, feed: Feed, failed: (thrown: unknown) => void): Forecasts {
  const known = new Map<string, Kept>()
  const last = new Map<string, Forecast>()
  const listeners = new Set<(repo: string) => void>()
  const stopping = new AbortController()
  let cursor: number | undefined
  let [isDue, restsUntil] = [false, 0]
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let leaveFeed = () => {}

  /** Notes for each repository what the log says of it. */
  async function readLog(): Promise<void> {
    const { seq: end } = await ports.store.readPosition([])
    if (cursor === undefined || end < cursor) {
      cursor = end
      known.clear()
      for (const { repo } of await ports.store.readTasks({ open: true })) known.set(repo, unknownYet())
      return
    }
    while (cursor < end) {
      const events = await ports.store.readEvents({ after: cursor, types: telling, limit: mostRead })
      for (const { uid, event } of events) {
        const task = await ports.store.findTaskByUid(uid)
        if (task) note(task.repo, event.type)
      }
      cursor = events.length < mostRead ? end : (events.at(-1)?.seq ?? end)
    }
  }

  function note(repo: string, type: TaskEvent['type']): void {
    const kept = known.get(repo) ?? unknownYet()
    known.set(repo, kept)
    if (farReaching.has(type)) kept.due = 'all'
    else if (kept.due === 'nothing') kept.due = 'steps'
  }

  async function refresh(id: string, kept: Kept): Promise<void> {
    const record = await ports.repos.findById(id)
    const open = record ? await readOpen(ports, record) : []
    // The end of the operation is an event, and until then half of its files are there.
    if (!record || open.some(({ pending }) => pending?.verb === 'operation')) return
    const { due, forecast: before } = kept
    Object.assign(kept, { ...unknownYet(), due: 'nothing' })
    const repo = await landingRepo(ports, record, open)
    const begun = ports.clock.now()
    const since = due === 'steps' ? before : undefined
    const { refreshForecast } = await import('./refresh-forecast.ts')
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(longestMs)])
    const made = await refreshForecast(ports, repo, { since, signal })
    kept.forecast = made.forecast
    kept.times = await readTimes(ports, await watchedPlaces(ports, repo, open, made.files))
    if (areWritten(kept.times, begun, ports.clock.now())) kept.due = 'all'
    last.set(id, made.forecast)
    for (const changed of listeners) changed(id)
  }

  async function round(): Promise<void> {
    await readLog()
    for (const [id, kept] of known) {
      if (stopping.signal.aborted) return
      if (haveMoved(kept.times, await readTimes(ports, [...kept.times.keys()]))) kept.due = 'all'
      if (kept.due === 'nothing') continue
      // What cannot be forecast now is tried again when something changes.
      await refresh(id, kept).catch((thrown: unknown) => stopping.signal.aborted || failed(thrown))
    }
  }

  async function run(): Promise<void> {
    const begun = performance.now()
    await round().catch(failed)
    const now = performance.now()
    restsUntil = now + Math.min((now - begun) * restTimes, longestRestMs)
  }

  function go(): void {
    isDue = false
    running = run().finally(() => {
      running = undefined
      schedule(isDue ? settleMs : lookMs)
    })
  }

  function schedule(ms: number): void {
    clearTimeout(timer)
    if (stopping.signal.aborted) return
    timer = setTimeout(go, Math.max(ms, restsUntil - performance.now())).unref()
  }

  function soon(): void {
    if (isDue) return
    isDue = true
    if (!running) schedule(settleMs)
  }

  soon()
  return {
    last,
    listen(changed) {
      listeners.add(changed)
      if (listeners.size === 1) leaveFeed = feed.listen(soon)
      return () => {
        if (listeners.delete(changed) && listeners.size === 0) leaveFeed()
      }
    },
    wake: soon,
    async close() {
      stopping.abort()
      clearTimeout(timer)
      if (listeners.size > 0) leaveFeed()
      await running
    },
  }
}

const unknownYet = (): Kept => ({ forecast: undefined, times: new Map(), due: 'all' })

/** The repository with the checkout that all tasks were started in; without one, each lands where it was started. */
async function landingRepo(
  ports: Pick<Ports, 'locate'>,
  record: Omit<Repo, 'place'>,
  open: readonly Task[],
): Promise<Repo> {
  const origins = new Set(open.map(({ origin }) => origin))
  const [first = record.commonDir] = origins
  const place = await ports.locate(first)
  return { ...record, place: origins.size > 1 ? { ...place, checkout: null } : place }
}
