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

/** A question of an agent that waits for an answer. */
export const askedSchema = z.object({
  question: z.string().describe('Its id.'),
  tool: z.string(),
  summary: z.string(),
  reason: z.string().describe('Why it is asked.'),
  at: z.iso.datetime(),
  until: z.iso.datetime().describe('When it is denied without an answer.'),
})

/** What was used, as far as the agent tells. */
export const usageFields = {
  inputTokens: z.number().describe('Cached ones included.'),
  outputTokens: z.number(),
  cachedTokens: z.number().optional().describe('The part of the input that was cached.'),
  costUsd: z.number().optional().describe('US dollars, as the agent counts them.'),
}

/** The same of something that may have used nothing that anybody told. */
const usedFields = {
  ...usageFields,
  inputTokens: usageFields.inputTokens.exactOptional(),
  outputTokens: usageFields.outputTokens.exactOptional(),
}

export const runSchema = z.object({
  run: z.string(),
  agent: z.string(),
  command: z.string().optional().describe('Of a command of your own: its line.'),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().optional().describe('Left out while it goes on.'),
  ok: z.boolean().optional(),
  reason: z.string().optional().describe('Why it failed.'),
  seconds: z.number().optional().describe('How long it took; left out of one that was killed.'),
  ...usedFields,
})

export const spentSchema = z.object({ seconds: z.number(), ...usedFields })

export const queuedRunSchema = z.object({
  entry: z.string().describe('The id of its place in the queue.'),
  agent: z.string(),
  what: z.string().describe('The prompt or the command line, in short.'),
  priority: z.number().int().describe('A higher one starts first.'),
  at: z.iso.datetime().describe('Since when it waits.'),
})

export const metadataSchema = z
  .record(z.string(), z.unknown())
  .readonly()
  .describe('What you know of the task and offshoot only keeps.')

/** The compiler refuses a field that only one of this and `TaskView` has. */
const taskFields = {
  id: z.string(),
  uid: z.string().describe('No other task ever has it; an id can be used again once its task is closed.'),
  repoId: z.string().describe('The id of its repository, as system.repos lists it.'),
  title: z.string(),
  state: z.enum(taskStates),
  was: z.enum(taskStates).exactOptional().describe('Of a stale task: its state before.'),
  isolation: z.enum(isolations),
  path: z.string(),
  branch: z.string(),
  base: z.object({ branch: z.string().nullable(), commit: z.string() }),
  origin: z.string().describe('The checkout that it was started in.'),
  head: z.string(),
  checkpoints: z.number().int(),
  files: z.number().int(),
  insertions: z.number().int(),
  deletions: z.number().int(),
  dirty: z.boolean().nullable(),
  landed: z.boolean().nullable(),
  createdAt: z.iso.datetime(),
  lastActiveAt: z.iso.datetime(),
  closedAt: z.iso.datetime().exactOptional(),
  closedBy: z.string().exactOptional().describe('The command that closed it.'),
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
  denied: z.number().int().exactOptional().describe('How many tool calls were denied in its last run.'),
  unheard: z
    .number()
    .int()
    .exactOptional()
    .describe('How many messages of `say` no agent has been given yet.'),
  queued: list(queuedRunSchema).exactOptional().describe('The runs that wait for their turn.'),
  metadata: metadataSchema.exactOptional(),
  asks: askedSchema.optional().describe('The question of the agent that waits for `answer`.'),
  lastCall: z
    .object({ tool: z.string(), summary: z.string() })
    .exactOptional()
    .describe('The last tool call that was allowed, step that was taken, or command that was begun.'),
  runs: z.number().int(),
  lastRun: runSchema.exactOptional().describe('The last run of an agent.'),
  usage: spentSchema.exactOptional().describe('What all runs of agents took together.'),
  slug: z.string().describe('A name for databases and the like, unique to this task.'),
  ports: list(z.number().int()).optional().describe('The network ports that its servers may listen on.'),
  running: z.literal(true).optional().describe('A run is under way.'),
  runningSince: z.iso.datetime().optional().describe('When the oldest run that is under way began.'),
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

const lines = z.number().int().nullable().describe('Null where git counts none, as in a binary file.')

export const countedSchema = fileSchema.extend({ insertions: lines, deletions: lines })

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

export const conflictSchema = z.object({
  path: z.string(),
  kind: z.string(),
  line: z.number().int().optional().describe('Of the kind `markers`: the line of the first conflict marker.'),
  lines: list(z.object({ from: z.number().int(), to: z.number().int() }))
    .optional()
    .describe('In a forecast, of a text: the lines of the task’s file that conflict.'),
})

/** Files that somebody changed in the middle of a verb. */
export const leftSchema = list(z.string()).optional()

export const skippedSchema = list(z.object({ path: z.string(), why: z.string() }))

export const stepCallSchema = z.object({
  id: z.string().optional().describe("The agent's own id of the call."),
  tool: z.string(),
  summary: z.string(),
  failed: z.literal(true).optional(),
})

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
  calls: list(stepCallSchema).describe('All tool calls whose work the step may hold.'),
  rewindTo: z.number().int().optional(),
  failed: z.string().optional().describe('The tool that failed and left these changes.'),
  skipped: skippedSchema,
})

/** In the answer of every action that makes something. */
export const warnings = list(z.string()).optional().describe('That the disk is nearly full.')

export const findingSchema = z.object({ name: z.string(), message: z.string(), hint: z.string() })

const commitWords = z.object({ subject: z.string(), author: z.string() })

export const straySchema = z.object({
  what: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  mode: z
    .object({ before: z.string(), after: z.string() })
    .optional()
    .describe('The permissions, as for chmod, if they changed.'),
  where: z.literal('checkout').optional().describe('Of a file of the checkout: `what` is its path there.'),
  keys: list(z.string()).optional().describe('Of a config: the keys that changed.'),
  commits: z
    .object({ before: commitWords.optional(), after: commitWords.optional() })
    .optional()
    .describe('Of a branch: the commits that it was and is at.'),
  why: z.string().optional().describe('Why an undo of the run leaves it.'),
  back: z.string().optional().describe('A command that puts it back, if you want that.'),
  kept: z.boolean().optional().describe('Whether an undo can put the old value back.'),
})

const kept = <N extends string, S extends z.ZodRawShape>(event: N, shape: S) =>
  z.object({ at: z.iso.datetime(), event: z.literal(event), ...shape })
const keptCall = { tool: z.string(), summary: z.string(), call: z.string().optional() }
const keptText = {
  text: z.string(),
  cut: z.number().int().optional().describe('How many characters are left out.'),
  part: z.literal(true).optional().describe('Of live output: the next event of its kind goes on with it.'),
}

/** One event of a transcript. */
export const keptEventSchema = z.discriminatedUnion('event', [
  kept('message', keptText),
  kept('output', { stream: z.enum(['stdout', 'stderr']), ...keptText }),
  kept('tool.started', keptCall),
  kept('tool.ended', { ok: z.boolean(), ...keptCall }),
  kept('denied', { reason: z.string(), ...keptCall }),
  kept('step', { n: z.number().int() }),
  kept('malformed', { reason: z.string() }),
  kept('usage', usageFields),
])

export const transcriptSchema = z.object({
  run: z.string(),
  agent: z.string(),
  prompt: z.string(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().optional().describe('Left out while it goes on, and of a run that was killed.'),
  ok: z.boolean().optional(),
  reason: z.string().optional(),
  left: z.number().int().optional().describe('How many events were not kept: the transcript was too long.'),
  events: list(keptEventSchema),
})
