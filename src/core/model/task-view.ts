/** The task as JSON and the doors show it. */
import { type AskedQuestion, portsOf, runsOf, type ShownTask, slugOf } from './task.ts'

/** A task without its internal fields. `dirty` is null when nobody looked at the workspace. */
const copied = [
  'id',
  'uid',
  'title',
  'state',
  'was',
  'isolation',
  'path',
  'branch',
  'base',
  'origin',
  'head',
  'checkpoints',
  'files',
  'insertions',
  'deletions',
  'createdAt',
  'lastActiveAt',
  'closedAt',
  'closedBy',
  'agent',
  'wanted',
  'denied',
  'unheard',
  'queued',
  'metadata',
  'leftOut',
  'lastCall',
  'runs',
  'lastRun',
  'usage',
  'reason',
] as const satisfies readonly (keyof ShownTask)[]

type Copied = Pick<ShownTask, (typeof copied)[number]>

export interface TaskView extends Copied {
  /** The id of its repository, as `repos` lists it. */
  readonly repoId: string
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
  /** When the oldest run that is under way began. */
  readonly runningSince?: string | undefined
  /** The question of the agent that waits for an answer. */
  readonly asks?: Omit<AskedQuestion, 'inputHash' | 'run'> | undefined
}

export function taskView(
  task: ShownTask,
  dirty: boolean | null = null,
  landed: boolean | null = null,
): TaskView {
  const present = copied.filter((field) => task[field] !== undefined)
  return {
    ...(Object.fromEntries(present.map((field) => [field, task[field]])) as unknown as Copied),
    repoId: task.repo,
    dirty,
    landed,
    ...(task.conversation === undefined ? {} : { conversation: task.conversation.id }),
    slug: slugOf(task),
    ...(task.portBlock === undefined ? {} : { ports: portsOf(task.portBlock) }),
    ...(task.pending?.verb === 'run' && { running: true, ...sinceOf(task) }),
    ...(task.asks && { asks: askedView(task.asks) }),
  }
}

function sinceOf(task: ShownTask): Pick<TaskView, 'runningSince'> {
  const at = runsOf(task)[0]?.at
  return at === undefined ? {} : { runningSince: at }
}

/** The question without its internal fields. */
export function askedView({ question, tool, summary, reason, at, until }: AskedQuestion) {
  return { question, tool, summary, reason, at, until }
}
