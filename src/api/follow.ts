/** Hands out the stream of events, to the callers who may read the audit log. */
import type { TaskEvent } from '../core/model/events.ts'
import type { Ports } from '../core/ports/index.ts'
import { type FollowInput, follow } from '../core/tasks/follow.ts'
import { actions } from '../actions/index.ts'
import { type Caller, requireScope, requireUser } from './caller.ts'

/** One event of the log. A reader that asks again with its `seq` misses none and gets none twice. */
export interface FollowedEvent {
  readonly seq: number
  readonly at: string
  /** The id of the task, and the uid, which no other task ever has. */
  readonly task: string
  readonly uid: string
  readonly event: TaskEvent
}

/** The log is what `audit` shows, so the rights are those of `audit`. */
const action = 'system.audit'

export function openFollow(ports: Ports, readCaller: () => Caller) {
  return async function* (input: FollowInput): AsyncGenerator<FollowedEvent, void> {
    const caller = readCaller()
    requireScope(caller, actions[action])
    await requireUser(ports, caller, action, {})
    for await (const { stored, task } of follow(ports, input)) {
      const { seq, at, uid, event } = stored
      yield { seq, at, task, uid, event }
    }
  }
}
