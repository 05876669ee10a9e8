/** The task as JSON and the doors show it. */
import type { Isolation, TaskState } from './enums.ts'
import { portsOf, slugOf, type Task } from './task.ts'

/** A task without its internal fields. `dirty` is null when nobody looked at the workspace. */
export interface TaskView {
  readonly id: string
  readonly title: string
  readonly state: TaskState
  readonly isolation: Isolation
  readonly path: string
  readonly branch: string
  readonly base: { readonly branch: string | null; readonly commit: string }
  readonly head: string
  readonly checkpoints: number
  readonly files: number
  readonly insertions: number
  readonly deletions: number
  readonly dirty: boolean | null
  /** Whether the work is in the base branch; null when nobody looked, or when the task has no work. */
  readonly landed: boolean | null
  readonly createdAt: string
  readonly lastActiveAt: string
  readonly agent?: string | undefined
  readonly conversation?: string | undefined
  readonly wanted?: string | undefined
  readonly runs: number
  /** A name for a database or a compose project that no other task has. */
  readonly slug: string
  /** The network ports that its servers may use; a closed task has none. */
  readonly ports?: readonly number[] | undefined
  /** A run is under way. */
  readonly running?: true | undefined
  readonly reason?: string | undefined
}

export function taskView(task: Task, dirty: boolean | null = null, landed: boolean | null = null): TaskView {
  return {
    id: task.id,
    title: task.title,
    state: task.state,
    isolation: task.isolation,
    path: task.path,
    branch: task.branch,
    base: task.base,
    head: task.head,
    checkpoints: task.checkpoints,
    files: task.files,
    insertions: task.insertions,
    deletions: task.deletions,
    dirty,
    landed,
    createdAt: task.createdAt,
    lastActiveAt: task.lastActiveAt,
    ...(task.agent === undefined ? {} : { agent: task.agent }),
    ...(task.conversation === undefined ? {} : { conversation: task.conversation.id }),
    ...(task.wanted === undefined ? {} : { wanted: task.wanted }),
    runs: task.runs,
    slug: slugOf(task),
    ...(task.portBlock === undefined ? {} : { ports: portsOf(task.portBlock) }),
    ...(task.pending?.verb === 'run' && { running: true }),
    ...(task.reason === undefined ? {} : { reason: task.reason }),
  }
}
