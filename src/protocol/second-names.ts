/**
 * Second names of actions, for programs that speak of worktrees by task and repository, with fields in snake case: one table
 * says which action each name stands for, and what becomes of its fields (docs/daemon.md).
 */
import { z } from 'zod'
import type { ActionName } from '../actions/index.ts'
import type { TaskState } from '../core/model/enums.ts'
import type { TaskView } from '../core/model/task-view.ts'

/** What a value stands for: fields of the action, and perhaps another action. */
interface Meaning {
  readonly action?: ActionName
  readonly input?: object
}

interface Field {
  readonly schema: z.ZodType
  /** The field of the action that gets the value as it is. */
  readonly to?: string
  /** What each value stands for. The door reads the fields with neither, which name a repository and a task. */
  readonly means?: Readonly<Record<string, Meaning>>
}

interface Row {
  readonly action: ActionName
  readonly input?: object
  readonly fields: Readonly<Record<string, Field>>
}

const text = z.string().min(1)

/** The repository and the task are found by the door: an id alone says nothing about a folder. */
const repository = {
  repository_id: { schema: text.optional() },
  repository_path: { schema: text.optional() },
} satisfies Row['fields']
const worktree = { ...repository, task_id: { schema: text } } satisfies Row['fields']
const meant: ReadonlySet<string> = new Set(Object.keys(worktree))

const land = (as: 'merge' | 'squash' | 'rebase' | 'keep-branch'): Meaning => ({ input: { as } })

export const secondNames = {
  'worktree.list': {
    action: 'task.list',
    fields: { ...repository, all: { schema: z.boolean().optional(), to: 'all' } },
  },
  'worktree.get': { action: 'task.show', fields: worktree },
  'worktree.diff': { action: 'task.diff', fields: worktree },
  'worktree.merge': {
    action: 'task.accept',
    fields: {
      ...worktree,
      merge_method: {
        schema: z.enum(['merge', 'squash', 'rebase']).default('merge'),
        means: { merge: land('merge'), squash: land('squash'), rebase: land('rebase') },
      },
      cleanup_after: {
        schema: z.boolean().optional(),
        means: { true: {}, false: { input: { keep: true } } },
      },
    },
  },
  'worktree.discard': { action: 'task.reject', fields: worktree },
  'task.close': {
    action: 'task.accept',
    fields: {
      ...worktree,
      merge_option: {
        schema: z.enum(['merge', 'squash', 'discard', 'keep_branch']),
        means: {
          merge: land('merge'),
          squash: land('squash'),
          discard: { action: 'task.reject' },
          keep_branch: land('keep-branch'),
        },
      },
    },
  },
  'orchestrator.start': {
    action: 'task.detach',
    input: { create: true },
    fields: {
      ...worktree,
      task_id: { schema: text.optional() },
      prompt: { schema: text, to: 'prompt' },
      agent_type: { schema: text.optional(), to: 'agent' },
      base_branch: { schema: text.optional(), to: 'from' },
      priority: { schema: z.number().int().optional(), to: 'priority' },
      metadata: { schema: z.record(z.string(), z.unknown()).optional(), to: 'metadata' },
    },
  },
} as const satisfies Record<string, Row>

export type SecondName = keyof typeof secondNames

/** What a payload names: a repository by its id or a folder in it, a task by its id or its uid. */
export interface Meant {
  readonly repository?: string | undefined
  readonly folder?: string | undefined
  readonly task?: string | undefined
}

export type SecondRequest =
  | {
      readonly ok: true
      readonly action: ActionName
      /** The input of the action without `repo` and `task`. */
      readonly input: Readonly<Record<string, unknown>>
      readonly meant: Meant
    }
  | { readonly ok: false; readonly problem: string; readonly field?: string }

/**
 * Whether the request is one of the table. A name that is also an action's is one of ours only with a field of ours:
 * `worktree.list {repo}` is the action.
 */
export function isSecondName(name: string, payload: unknown, isAction: boolean): name is SecondName {
  if (!Object.hasOwn(secondNames, name)) return false
  if (!isAction) return true
  return typeof payload === 'object' && payload !== null && Object.keys(payload).some((key) => meant.has(key))
}

/** What the request asks for, in the words of the table of actions. */
export function parseSecond(name: SecondName, payload: unknown): SecondRequest {
  const { action, fields, input = {} }: Row = secondNames[name]
  const shape = Object.fromEntries(Object.entries(fields).map(([field, { schema }]) => [field, schema]))
  const parsed = z.strictObject(shape).safeParse(payload)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const field = issue?.path.join('.')
    return { ok: false, problem: issue?.message ?? 'Invalid input', ...(field && { field }) }
  }
  const given = Object.entries(parsed.data).filter(([, value]) => value !== undefined)
  let chosen: ActionName = action
  const taken: Record<string, unknown> = { ...input }
  for (const [field, value] of given) {
    const { to, means }: Field = fields[field] ?? { schema: text }
    const meaning = means?.[String(value)]
    if (meaning?.action) chosen = meaning.action
    Object.assign(taken, to === undefined ? meaning?.input : { [to]: value })
  }
  const { repository_id, repository_path, task_id } = parsed.data as Record<string, string | undefined>
  return {
    ok: true,
    action: chosen,
    input: taken,
    meant: { repository: repository_id, folder: repository_path, task: task_id },
  }
}

/** A task as a worktree. */
export const worktreeSchema = z.object({
  id: z.string().describe('The uid of its task.'),
  task_id: z.string(),
  repository_id: z.string(),
  path: z.string(),
  branch: z.string(),
  base_branch: z.string(),
  status: z.enum(['active', 'merged', 'deleted']),
  state: z.string().describe('The state of its task.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  merged_at: z.iso.datetime().optional(),
  deleted_at: z.iso.datetime().optional(),
})
type WorktreeView = z.infer<typeof worktreeSchema>

const statuses: Readonly<Partial<Record<TaskState, WorktreeView['status']>>> = {
  accepted: 'merged',
  rejected: 'deleted',
  kept: 'deleted',
}

function worktreeView(task: TaskView): WorktreeView {
  const status = statuses[task.state] ?? 'active'
  return {
    id: task.uid,
    task_id: task.id,
    repository_id: task.repoId,
    path: task.path,
    branch: task.branch,
    base_branch: task.base.branch ?? task.base.commit,
    status,
    state: task.state,
    created_at: task.createdAt,
    updated_at: task.lastActiveAt,
    ...(status !== 'active' && { [`${status}_at`]: task.closedAt }),
  }
}

/** The answer of an action under a second name: as it is, with its task as a worktree; of a list, the worktrees alone. */
export function secondAnswer(output: object): object {
  const { task, tasks } = output as { task?: TaskView; tasks?: readonly TaskView[] }
  if (tasks) return { worktrees: tasks.map(worktreeView) }
  return { ...output, ...(task && { worktree: worktreeView(task) }) }
}
