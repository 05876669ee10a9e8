/** Schemas of every event: those that a door receives during an action, and those that the log keeps (docs/adr/0013-events-as-the-spine.md). */
import { z } from 'zod'
import { isolations, notifyWays, taskStates } from '../core/model/enums.ts'
import { phases } from '../core/model/progress.ts'
import {
  fileSchema,
  list,
  metadataSchema,
  queuedRunSchema,
  riskSchema,
  runSchema,
  spentSchema,
  stepCallSchema,
  stepSchema,
  straySchema,
  taskSchema,
  usageFields,
} from './schemas/common.ts'

const strays = list(straySchema)
const toolCall = { tool: z.string(), summary: z.string(), call: z.string().optional() }
const told = <N extends string, S extends z.ZodRawShape>(event: N, shape: S) =>
  z.object({ event: z.literal(event), ...shape })

/** The events of a run while it goes on. `--json` prints each as one line. A door answers `asked`, and `risky` before work lands, with a value of `saidSchema`. */
export const toldSchema = z.discriminatedUnion('event', [
  told('queued', { limit: z.number().int() }),
  told('progress', {
    phase: z.enum(phases),
    percent: z.number(),
    files: z.number().int(),
    total: z.number().int(),
  }),
  // The verb was cancelled too late, and goes on to its end.
  told('finishing', { verb: z.string() }),
  told('started', { task: taskSchema, run: z.string(), agent: z.string() }),
  told('conversation', { conversation: z.string() }),
  told('message', {
    text: z.string(),
    part: z.literal(true).optional().describe('The next message goes on with it, in the same line.'),
  }),
  told('output', { stream: z.enum(['stdout', 'stderr']), text: z.string() }),
  told('tool.started', toolCall),
  told('tool.ended', { ok: z.boolean(), ...toolCall }),
  told('decided', { allow: z.boolean(), reason: z.string(), ...toolCall }),
  // `input` is all that the tool would be given, for a person to read: `--json`, where nobody answers, leaves it out.
  told('asked', { reason: z.string(), ...toolCall, input: z.unknown().optional() }),
  told('waiting', { question: z.string(), reason: z.string(), until: z.string(), ...toolCall }),
  told('heard', { texts: list(z.string()) }),
  told('risky', { risks: list(riskSchema) }),
  told('checkpoint', { checkpoint: stepSchema }),
  told('plan', {
    entries: list(
      z.object({ text: z.string(), state: z.enum(['pending', 'in_progress', 'completed']) }),
    ).describe('What the agent means to do; takes the place of the plan before.'),
  }),
  told('malformed', { reason: z.string() }),
  // Used since it was last told.
  told('usage', usageFields),
  told('strayed', { changes: strays }),
  // With a `reason`, the user could not be notified that way. A door rings the bell itself.
  told('notified', {
    about: z.enum(['asked', 'ended']),
    how: z.enum(notifyWays),
    reason: z.string().optional(),
  }),
])
export type Told = z.infer<typeof toldSchema>

export const saidSchema = z.enum(['once', 'always', 'deny'])
export type Said = z.infer<typeof saidSchema>

const owner = z.object({ pid: z.number().int(), startedAt: z.string(), boot: z.string() })
const portBlock = z.object({
  first: z.number().int(),
  count: z.number().int(),
  checked: z.literal(true).exactOptional(),
})
const landed = z.object({ tree: z.string(), basis: z.string() })
const shadow = z.object({ gitDir: z.string(), operation: z.string() })
const text = z.string()
const maybe = z.string().optional()
const trigger = z.enum(['failure', 'shutdown', 'idle', 'new task'])

const runMark = {
  owner,
  run: text,
  name: maybe,
  exec: z.number().int().optional(),
  at: maybe,
}

const pending = z.discriminatedUnion('verb', [
  z.object({ verb: z.literal('start'), owner }),
  z.object({ verb: z.literal('recreate'), owner }),
  z.object({ verb: z.literal('run'), ...runMark, beside: list(z.object(runMark)).exactOptional() }),
  z.object({ verb: z.literal('publish'), owner }),
  z.object({ verb: z.literal('operation'), owner, operation: text, staged: z.boolean() }),
])

const count = z.number().optional()
const totals = z.object({ inputTokens: count, outputTokens: count, cachedTokens: count, costUsd: count })

/** A task as the records keep it, with fields that doors do not show. */
const recordSchema = z.object({
  uid: text,
  repo: text,
  id: text,
  title: text,
  state: z.enum(taskStates),
  isolation: z.enum(isolations),
  path: text,
  branch: text,
  adopted: z.boolean(),
  base: z.object({ branch: text.nullable(), commit: text }),
  origin: text,
  head: text,
  checkpoints: z.number().int(),
  files: z.number().int(),
  insertions: z.number().int(),
  deletions: z.number().int(),
  runs: z.number().int(),
  agent: text.exactOptional(),
  conversation: z.object({ agent: text, id: text, used: totals.exactOptional() }).exactOptional(),
  lastRun: runSchema.exactOptional(),
  usage: spentSchema.exactOptional(),
  wanted: text.exactOptional(),
  asks: z
    .object({
      question: text,
      run: text,
      tool: text,
      summary: text,
      reason: text,
      inputHash: text,
      at: text,
      until: text,
    })
    .exactOptional(),
  denied: z.number().int().exactOptional(),
  lastCall: z.object({ tool: text, summary: text }).exactOptional(),
  unheard: z.number().int().exactOptional(),
  queued: list(queuedRunSchema).exactOptional(),
  metadata: metadataSchema.exactOptional(),
  createdAt: text,
  lastActiveAt: text,
  group: text.exactOptional(),
  closedAt: text.exactOptional(),
  closedBy: text.exactOptional(),
  reason: text.exactOptional(),
  pending: pending.exactOptional(),
  trigger: z.enum(['failure', 'shutdown']).exactOptional(),
  unkept: z.literal(true).exactOptional(),
  unreverted: text.exactOptional(),
  unpublished: text.exactOptional(),
  leftOut: text.exactOptional(),
  trash: text.exactOptional(),
  landed: landed.exactOptional(),
  shadow: shadow.exactOptional(),
  portBlock: portBlock.exactOptional(),
  expiry: z.enum(['begun', 'done']).exactOptional(),
  hidden: z.boolean().exactOptional(),
})

const patch = z.object({
  state: z.enum(taskStates).optional(),
  closedAt: text.nullable().optional(),
  closedBy: text.nullable().optional(),
  trash: text.nullable().optional(),
  hidden: z.boolean().optional(),
  landed: landed.nullable().optional(),
})

const kept = <N extends string, S extends z.ZodRawShape>(type: N, shape: S) =>
  z.object({ type: z.literal(type), ...shape })

/** The events of a task in the log. A test holds this schema to the type `TaskEvent` of core. */
export const taskEventSchema = z.discriminatedUnion('type', [
  kept('start.begun', { task: recordSchema, owner }),
  kept('start.done', {}),
  kept('included', { count: z.number().int(), copied: list(text), linked: list(text), secrets: list(text) }),
  kept('ports.given', { portBlock }),
  kept('installed', { files: list(text) }),
  kept('start.undone', { reason: text, trash: maybe }),
  kept('recreate.begun', { owner }),
  kept('recreate.done', {}),
  kept('recreate.undone', { reason: text }),
  kept('checkpoint', {
    n: z.number().int(),
    commit: text,
    tool: text,
    summary: text,
    run: maybe,
    call: maybe,
    calls: list(stepCallSchema).optional(),
    files: list(fileSchema),
    skipped: list(z.object({ path: text, why: text })),
    total: z.object({
      files: z.number().int(),
      insertions: z.number().int(),
      deletions: z.number().int(),
    }),
  }),
  kept('checkpoint.failed', { tool: maybe, reason: text }),
  kept('checkpoint.resumed', {}),
  kept('hook.skipped', { hook: text }),
  kept('run.begun', {
    run: text,
    agent: text,
    owner,
    exec: z.number().int().optional(),
    name: maybe,
    entry: maybe,
  }),
  kept('run.queued', { ...queuedRunSchema.omit({ at: true }).shape, metadata: metadataSchema.optional() }),
  kept('run.unqueued', {
    entry: text,
    reason: text,
    error: z.object({ code: text, hint: text }).optional(),
  }),
  kept('run.conversation', { run: text, agent: text, conversation: text }),
  kept('run.asked', {
    run: text,
    question: text,
    tool: text,
    summary: text,
    call: maybe,
    reason: text,
    until: text,
    input: text,
    inputHash: text,
    inputBytes: z.number().int(),
  }),
  kept('run.answered', {
    run: text,
    question: text,
    said: saidSchema,
    by: z.enum(['user', 'token', 'nobody']),
    use: maybe,
  }),
  kept('run.said', { run: text, text, by: z.enum(['user', 'token']) }),
  kept('run.heard', { run: text, count: z.number().int(), own: z.boolean().optional() }),
  kept('run.decided', {
    run: text,
    tool: text,
    summary: text,
    call: maybe,
    allow: z.boolean(),
    by: z.enum(['policy', 'always', 'user', 'nobody']),
    reason: text,
    input: maybe,
    inputHash: maybe,
    inputBytes: z.number().int().optional(),
    use: maybe,
  }),
  kept('run.wanted', { run: text, verb: text }),
  kept('run.stopping', { run: text, reason: text }),
  kept('run.strayed', { run: text, changes: strays, operation: maybe }),
  kept('run.ended', {
    run: text,
    ok: z.boolean(),
    reason: text,
    trigger: z.enum(['failure', 'shutdown']).optional(),
    seconds: count,
    usage: z.object(usageFields).optional(),
    totals: totals.optional(),
  }),
  kept('publish.begun', { owner }),
  kept('publish.done', { branch: text, tip: text, leftOut: maybe }),
  kept('publish.undone', { reason: text }),
  kept('operation.begun', { id: text, verb: text, undoes: maybe, batch: maybe, final: maybe, owner }),
  kept('operation.staged', { id: text }),
  kept('operation.unstaged', { id: text }),
  kept('operation.undone', { id: text, reason: text, patch }),
  kept('operation.done', { id: text, commit: maybe, patch, left: list(text) }),
  kept('reverted', { operation: maybe, trigger, reason: text }),
  kept('revert.failed', { trigger, reason: text }),
  kept('trash.slimmed', { bytes: z.number() }),
  kept('orphan.found', {
    path: text,
    kind: z.enum(['worktree', 'folder', 'missing']),
    branch: text.nullable(),
    of: text.nullable(),
  }),
  kept('mended', { what: text }),
  kept('expiry.begun', {}),
  kept('expiry.done', {}),
  kept('rebuilt', {}),
  kept('moved', { to: z.object({ origin: text, path: text, shadow: shadow.exactOptional() }) }),
])
