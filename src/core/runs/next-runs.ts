/** Decides which of the queued runs start now, and in which order the others wait. Pure. */
import type { QueuedRun } from '../model/queue.ts'
import type { Settings } from '../model/settings.ts'

/** 0 is no limit, but of `concurrent`. */
export type RunLimits = Pick<Settings['limits'], 'global' | 'concurrent' | 'perAgent'>

/** Whose turn a run takes. */
export interface Turn {
  /** The uid of its task. */
  readonly task: string
  readonly repo: string
  readonly agent: string
}

export interface Waiting extends Turn, Pick<QueuedRun, 'entry' | 'priority' | 'at'> {
  /** As the settings of its checkout say. */
  readonly limits: RunLimits
}

export interface QueueFacts {
  readonly waiting: readonly Waiting[]
  /** The runs that take a turn now, begun or about to begin. */
  readonly atWork: readonly Turn[]
  /** Tasks that have an agent already: a follow-up waits for its end. */
  readonly busy: ReadonlySet<string>
  /** By repository, when a run of it last began, in milliseconds. */
  readonly served: ReadonlyMap<string, number>
  readonly now: number
}

/** A run that waits this long counts as one priority higher, so that none waits for ever. */
export const agingMs = 10 * 60_000

/** The runs to start now, in that order. With each one the others have less room, and its repository has been served. */
export function nextRuns(facts: QueueFacts): Waiting[] {
  const chosen: Waiting[] = []
  for (;;) {
    const at = afterChoice(facts, chosen)
    const [next] = inOrder(at).filter((run) => !at.busy.has(run.task) && hasRoom(run, at.atWork))
    if (!next) return chosen
    chosen.push(next)
  }
}

/**
 * By priority; then the repository with fewer runs at work, then the one that was served longest ago, then who came first.
 * So no repository fills the queue for the others.
 */
export function inOrder({ waiting, atWork, served, now }: QueueFacts): Waiting[] {
  const working = Map.groupBy(atWork, ({ repo }) => repo)
  const keys = (run: Waiting) => [
    -rank(run, now),
    working.get(run.repo)?.length ?? 0,
    served.get(run.repo) ?? Number.NEGATIVE_INFINITY,
    Date.parse(run.at),
  ]
  return waiting.toSorted((one, other) => {
    const [a, b] = [keys(one), keys(other)]
    const differing = a.findIndex((key, n) => key !== b[n])
    if (differing < 0) return one.entry < other.entry ? -1 : 1
    return a[differing]! < b[differing]! ? -1 : 1
  })
}

function rank({ priority, at }: Waiting, now: number): number {
  return priority + Math.max(0, Math.floor((now - Date.parse(at)) / agingMs))
}

function hasRoom({ repo, agent, limits }: Waiting, atWork: readonly Turn[]): boolean {
  const ofRepo = atWork.filter((turn) => turn.repo === repo).length
  const ofAgent = atWork.filter((turn) => turn.agent === agent).length
  return (
    isBelow(atWork.length, limits.global) &&
    isBelow(ofRepo, limits.concurrent) &&
    isBelow(ofAgent, limits.perAgent)
  )
}

const isBelow = (count: number, limit: number) => limit === 0 || count < limit

function afterChoice(facts: QueueFacts, chosen: readonly Waiting[]): QueueFacts {
  const entries = new Set(chosen.map(({ entry }) => entry))
  return {
    waiting: facts.waiting.filter(({ entry }) => !entries.has(entry)),
    atWork: [...facts.atWork, ...chosen],
    busy: new Set([...facts.busy, ...chosen.map(({ task }) => task)]),
    // Later than all before, and each later than the one chosen before it.
    served: new Map([...facts.served, ...chosen.map(({ repo }, n) => [repo, facts.now + n + 1] as const)]),
    now: facts.now,
  }
}
