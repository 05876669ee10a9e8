import type { Owner, Task } from './task.ts'

/**
 * Everything that can happen to a task. A verb of several steps appends `….begun` before its first effect, so
 * that whatever it left half-made can be found by that mark.
 */
export type TaskEvent =
  | { readonly type: 'start.begun'; readonly task: Task; readonly owner: Owner }
  | { readonly type: 'start.done' }
  | { readonly type: 'start.undone'; readonly reason: string }
  | { readonly type: 'recreate.begun'; readonly owner: Owner }
  | { readonly type: 'recreate.done' }
  | { readonly type: 'recreate.undone'; readonly reason: string }
  | {
      readonly type: 'remove.begun'
      readonly owner: Owner
      readonly keepBranch: boolean
      readonly trash: string
    }
  | { readonly type: 'remove.done' }

/** An event as it was stored: `n` counts within the task from 1, `seq` over all tasks. */
export interface StoredEvent {
  readonly seq: number
  readonly uid: string
  readonly n: number
  readonly at: string
  readonly event: TaskEvent
}

/**
 * The task after one more event. Total: an event that makes no sense for the task as it is leaves it as it was,
 * so that a log written by a newer version can still be read.
 */
export function reduce(task: Task | undefined, event: TaskEvent, at: string): Task | undefined {
  if (event.type === 'start.begun') {
    return task ?? { ...event.task, state: 'pending', pending: { verb: 'start', owner: event.owner } }
  }
  if (task === undefined) return undefined
  switch (event.type) {
    case 'start.done':
      return { ...settled(task), state: 'active', lastActiveAt: at }
    case 'start.undone':
      return { ...settled(task), state: 'failed', reason: event.reason, closedAt: at, hidden: true }
    case 'recreate.begun':
      return { ...task, pending: { verb: 'recreate', owner: event.owner } }
    case 'recreate.done':
      return { ...settled(task), lastActiveAt: at }
    case 'recreate.undone':
      return settled(task)
    case 'remove.begun': {
      const { owner, keepBranch, trash } = event
      return { ...task, pending: { verb: 'remove', owner, keepBranch, trash } }
    }
    case 'remove.done': {
      if (task.pending?.verb !== 'remove') return task
      const { keepBranch, trash } = task.pending
      return {
        ...settled(task),
        state: keepBranch ? 'kept' : 'rejected',
        closedAt: at,
        lastActiveAt: at,
        trash,
      }
    }
    default:
      return task
  }
}

function settled(task: Task): Task {
  const { pending: _, ...rest } = task
  return rest
}
