/** Drives the orchestrator of the daemon: when it looks at the queue, and when its jobs are due (docs/adr/0065-the-queue-is-in-the-log.md). */
import { type Heard, openOrchestrator } from '../api/orchestrate.ts'
import type { Ports } from '../core/ports/index.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** How often it looks whether another process has changed the records, and whether one has died, which no record tells. */
const lookMs = { records: 200, processes: 5000 }

const oftenMs = 60_000

export interface Driven {
  /** This process has appended to the log. */
  wake(): void
  /** Starts no more runs and jobs, and waits for those under way. */
  close(): Promise<void>
}

interface Needs {
  readonly ports: Ports
  readonly log: Log
  readonly metrics: Metrics
  /** Tells every client that the disk is full, or has space again. */
  readonly disk: Heard['disk']
}

/** Begins when what dead processes left was ended; requests are answered meanwhile. */
export function driveOrchestrator({ ports, log, metrics, disk }: Needs): Driven {
  const closing = new AbortController()
  const { signal } = closing
  const orchestrator = openOrchestrator(ports, heardBy(log, metrics, disk), signal)
  const timers: NodeJS.Timeout[] = []
  const underWay = new Set<Promise<unknown>>()
  const counts = { waiting: 0, atWork: 0 }
  metrics.gauge('offshoot_queue_waiting', 'Runs that wait for their turn.', () => counts.waiting)
  metrics.gauge('offshoot_runs', 'Runs of agents at work.', () => counts.atWork)
  let endRecovery = async () => {}

  const during = (work: Promise<unknown>, what: string) => {
    const done = work
      .catch((thrown: unknown) => log.error({ err: thrown }, what))
      .finally(() => underWay.delete(done))
    underWay.add(done)
    return done
  }

  /** Looks at the queue if the log has grown since, or if it is time to look for dead processes. */
  const look = openLook(async (isAsked, sinceMs, seenSeq) => {
    const seq = await orchestrator.readSeq()
    if (!isAsked && seq === seenSeq && sinceMs < lookMs.processes) return undefined
    Object.assign(counts, await orchestrator.dispatch())
    return seq
  })

  /** What comes back often begins at once; the rest leaves the first minutes of a daemon to its clients. */
  const every = (ms: number, what: string, work: () => Promise<unknown>) => {
    let isRunning = false
    const run = () => {
      if (isRunning || signal.aborted) return
      isRunning = true
      void during(work(), what).finally(() => (isRunning = false))
    }
    if (ms <= oftenMs) run()
    timers.push(setInterval(run, ms))
  }

  const begin = async () => {
    await orchestrator.begin()
    if (signal.aborted) return
    endRecovery = await orchestrator.recoverMeanwhile()
    every(lookMs.records, 'the queue cannot be read', () => look(false))
    for (const { name, everyMs, work } of orchestrator.jobs) every(everyMs, `${name} failed`, work)
  }
  const begun = during(begin(), 'the orchestrator could not begin')

  return {
    wake: () => void (timers.length > 0 && !signal.aborted && during(look(true), 'the queue cannot be read')),
    async close() {
      closing.abort()
      // Until it has begun it may still set timers, which would keep the process alive.
      await begun
      for (const timer of timers) clearInterval(timer)
      await orchestrator.end()
      await endRecovery()
      await Promise.all(underWay)
    },
  }
}

/** One look at a time, or two would start the same run; one that is asked for meanwhile comes after it. */
function openLook(
  work: (isAsked: boolean, sinceMs: number, seenSeq: number | undefined) => Promise<number | undefined>,
): (isAsked: boolean) => Promise<void> {
  let running: Promise<void> | undefined
  let isWanted = false
  let [seen, at]: [number | undefined, number] = [undefined, Number.NEGATIVE_INFINITY]
  const run = async () => {
    do {
      const isAsked = isWanted
      isWanted = false
      const found = await work(isAsked, performance.now() - at, seen)
      if (found !== undefined) [seen, at] = [found, performance.now()]
    } while (isWanted)
  }
  return (isAsked) => {
    isWanted ||= isAsked
    return (running ??= run().finally(() => (running = undefined)))
  }
}

function heardBy(log: Log, metrics: Metrics, disk: Heard['disk']): Heard {
  return {
    started(run) {
      metrics.count('offshoot_queue_started_total', 'Queued runs that were begun.')
      log.info(run, 'a queued run has begun')
    },
    failed: (what, error) => log.warn({ err: error }, `${what} failed`),
    did: (what, repo) => log.info({ repo }, what),
    disk(used, limit) {
      log.warn(
        { usedPercent: used, warnPercent: limit },
        used >= limit ? 'the disk is nearly full' : 'the disk has space again',
      )
      disk(used, limit)
    },
  }
}
