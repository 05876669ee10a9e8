/** The record of a run: who worked from when to when, how it ended, and what it took. Pure. */
import type { StoredEvent, TaskEvent } from './events.ts'
import type { Usage } from './usage.ts'

export interface RunRecord extends Partial<Usage> {
  readonly run: string
  readonly agent: string
  /** The line of a command of the user's own, which worked beside others. */
  readonly command?: string | undefined
  readonly startedAt: string
  /** Left out while it goes on. */
  readonly endedAt?: string | undefined
  readonly ok?: boolean | undefined
  readonly reason?: string | undefined
  /** How long it took; left out of one that was killed. */
  readonly seconds?: number | undefined
}

type Of<T extends TaskEvent['type']> = Extract<TaskEvent, { type: T }>

export function begunRun({ run, agent, name, exec }: Of<'run.begun'>, startedAt: string): RunRecord {
  return { run, agent, ...(exec !== undefined && name !== undefined && { command: name }), startedAt }
}

export function endedRun(
  record: RunRecord,
  { ok, reason, seconds, usage }: Of<'run.ended'>,
  endedAt: string,
): RunRecord {
  const took = seconds === undefined ? {} : { seconds }
  return { ...record, endedAt, ok, ...(reason !== '' && { reason }), ...took, ...usage }
}

/** The runs of a task by its events, oldest first. */
export function runRecords(events: readonly StoredEvent[]): RunRecord[] {
  const runs = new Map<string, RunRecord>()
  for (const { event, at } of events) {
    if (event.type === 'run.begun') runs.set(event.run, begunRun(event, at))
    const begun = event.type === 'run.ended' ? runs.get(event.run) : undefined
    if (event.type === 'run.ended' && begun) runs.set(event.run, endedRun(begun, event, at))
  }
  return [...runs.values()]
}
