/** The task as JSON and the doors show it. */
import { portsOf, slugOf, type Task } from './task.ts'

/** A task without its internal fields. `dirty` is null when nobody looked at the workspace. */
const copied = [
  'id',
  'title',
  'state',
  'isolation',
  'path',
  'branch',
  'base',
  'head',
  'checkpoints',
  'files',
  'insertions',
  'deletions',
  'createdAt',
  'lastActiveAt',
  'agent',
  'wanted',
  'leftOut',
  'runs',
  'reason',
] as const satisfies readonly (keyof Task)[]

type Copied = Pick<Task, (typeof copied)[number]>

export interface TaskView extends Copied {
  /** Null when nobody looked at the workspace. */
  readonly dirty: boolean | null
  /** Whether the work is in the base branch; null when nobody looked, or when the task has no work. */
  readonly landed: boolean | null
  readonly conversation?: string | undefined
  /** A name for databases and the like that is this task's alone. */
  readonly slug: string
  /** The network ports that its servers may use; a closed task has none. */
  readonly ports?: readonly number[] | undefined
  /** A run is under way. */
  readonly running?: true | undefined
}

export function taskView(task: Task, dirty: boolean | null = null, landed: boolean | null = null): TaskView {
  const present = copied.filter((field) => task[field] !== undefined)
  return {
    ...(Object.fromEntries(present.map((field) => [field, task[field]])) as unknown as Copied),
    dirty,
    landed,
    ...(task.conversation === undefined ? {} : { conversation: task.conversation.id }),
    slug: slugOf(task),
    ...(task.portBlock === undefined ? {} : { ports: portsOf(task.portBlock) }),
    ...(task.pending?.verb === 'run' && { running: true }),
  }
}
