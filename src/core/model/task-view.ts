/**
 * The task as the outside sees it: the fields of its record that are shown as they are, and those that are worked out.
 * A field of either kind is added here, in the schema of protocol/schemas/common.ts and in docs/commands.md: the compiler
 * and src/protocol/task.test.ts refuse one that only some of them have.
 */
import { portsOf, slugOf, type Task } from './task.ts'

/** The fields of the record that are shown as they are; one that the task does not have is left out. */
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
  'runs',
  'reason',
] as const satisfies readonly (keyof Task)[]

type Copied = Pick<Task, (typeof copied)[number]>

export interface TaskView extends Copied {
  /** Null when nobody looked at the workspace. */
  readonly dirty: boolean | null
  /** Whether the work is in the base branch; null when nobody looked, or when there is nothing to find. */
  readonly landed: boolean | null
  readonly conversation?: string | undefined
  /** A name for databases and the like that is this task's alone. */
  readonly slug: string
  /** Those that its servers may listen on; a closed task has none. */
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
