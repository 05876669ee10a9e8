/** Schemas that several actions share: task, step, file, hunk, error. */
import { z } from 'zod'
import { isolations, taskStates } from '../../core/model/enums.ts'
import type { TaskView } from '../../core/model/task-view.ts'

/** A list that the receiver cannot change. */
export const list = <T extends z.ZodType>(of: T) => z.array(of).readonly()

export const repo = z
  .string()
  .min(1)
  .describe('A folder in the repository, as -C names it on the command line.')

export const taskName = z.string().min(1)

/** A path, or the id of a commit, and what is the matter with it. */
export const riskSchema = z.object({ path: z.string(), why: z.string() })

/** The compiler refuses a field that only one of this and `TaskView` has. */
const taskFields = {
  id: z.string(),
  title: z.string(),
  state: z.enum(taskStates),
  isolation: z.enum(isolations),
  path: z.string(),
  branch: z.string(),
  base: z.object({ branch: z.string().nullable(), commit: z.string() }),
  head: z.string(),
  checkpoints: z.number().int(),
  files: z.number().int(),
  insertions: z.number().int(),
  deletions: z.number().int(),
  dirty: z.boolean().nullable(),
  landed: z.boolean().nullable(),
  createdAt: z.iso.datetime(),
  lastActiveAt: z.iso.datetime(),
  agent: z.string().exactOptional(),
  conversation: z.string().optional(),
  wanted: z
    .string()
    .exactOptional()
    .describe('The command that the agent asked for in its last run, and that only the user may give.'),
  leftOut: z
    .string()
    .exactOptional()
    .describe('Which commits of the agent are not on the branch, and where they are kept.'),
  runs: z.number().int(),
  slug: z.string().describe('A name for databases and the like, unique to this task.'),
  ports: list(z.number().int()).optional().describe('The network ports that its servers may listen on.'),
  running: z.literal(true).optional().describe('A run is under way.'),
  reason: z.string().exactOptional(),
} satisfies Record<keyof TaskView, z.ZodType>

export const taskSchema = z.object(taskFields)

export const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string(),
  path: z.string().optional(),
})

export const fileSchema = z.object({ path: z.string(), status: z.enum(['added', 'modified', 'deleted']) })

export const hunkSchema = z.object({
  id: z.string().describe('A hash of path and content: it changes when the hunk does.'),
  path: z.string(),
  header: z.string(),
  oldStart: z.number().int(),
  oldLines: z.number().int(),
  newStart: z.number().int(),
  newLines: z.number().int(),
  insertions: z.number().int(),
  deletions: z.number().int(),
})

export const hookSchema = z.object({ hook: z.string(), ok: z.boolean(), why: z.string() })

export const conflictSchema = z.object({ path: z.string(), kind: z.string() })

export const skippedSchema = list(z.object({ path: z.string(), why: z.string() }))

export const stepSchema = z.object({
  n: z.number().int(),
  commit: z.string().describe('The id in the vault.'),
  published: z.string().optional().describe("The id that `git show` finds in the user's repository."),
  tool: z.string(),
  summary: z.string(),
  files: list(fileSchema),
  at: z.iso.datetime(),
  run: z.string().optional(),
  call: z.string().optional(),
  rewindTo: z.number().int().optional(),
  skipped: skippedSchema,
})

export const findingSchema = z.object({ name: z.string(), message: z.string(), hint: z.string() })

export const straySchema = z.object({
  what: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  mode: z
    .object({ before: z.string(), after: z.string() })
    .optional()
    .describe('The permissions, as for chmod, if they changed.'),
  kept: z.boolean().optional().describe('Whether an undo can put the old value back.'),
})
