/** Follows the log: every event of a repository's tasks, or of all, once, in order, by whichever process it was appended. */
import { pause } from '../base/pause.ts'
import type { StoredEvent } from '../model/events.ts'
import type { Records } from '../ports/index.ts'
import { findRepo } from './repo.ts'

export interface FollowInput {
  /** A folder of the repository; without it, the events of all repositories come. */
  readonly dir?: string | undefined
  /** The `seq` of the last event that the reader has; without it, the last one of the log. */
  readonly since?: number | undefined
  /** Only events of tasks with that id. */
  readonly task?: string | undefined
  readonly signal: AbortSignal
}

/** An event, and the id of its task. */
export interface Followed {
  readonly stored: StoredEvent
  readonly task: string
}

/** Events of other processes are noticed by asking the store: events of the file system came late, or not at all. */
const pollMs = 100
const batch = 500

export async function* follow(records: Records, input: FollowInput): AsyncGenerator<Followed, void> {
  const { signal } = input
  const { store } = records
  let seq = input.since ?? (await store.readPosition([])).seq
  let repo: string | undefined
  while (!signal.aborted) {
    const events = await store.readEvents({ after: seq, limit: batch })
    // The repository gets its record with its first task.
    if (events.length > 0 && input.dir !== undefined) repo ??= (await findRepo(records, input.dir)).repo?.id
    for (const stored of events) {
      seq = stored.seq
      const task = await store.findTaskByUid(stored.uid)
      if (!task || (input.dir !== undefined && task.repo !== repo)) continue
      if (input.task !== undefined && task.id !== input.task) continue
      yield { stored, task: task.id }
      if (signal.aborted) return
    }
    if (events.length < batch) await pause(pollMs, signal)
  }
}
