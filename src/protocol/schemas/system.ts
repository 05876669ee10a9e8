/** Schemas of the actions on offshoot itself. */
import { z } from 'zod'
import { notifyWays, policyLevels } from '../../core/model/enums.ts'
import {
  errorSchema,
  findingSchema,
  leftSchema,
  list,
  repo,
  taskName,
  taskSchema,
  warnings,
  queuedRunSchema,
} from './common.ts'

const undone = z.object({
  task: taskSchema,
  undone: z.string(),
  verb: z.string(),
  operation: z.string(),
  files: list(z.string()),
  left: leftSchema.describe('Files that somebody changed again or meanwhile, and that stay as they are.'),
})

export const repoSchema = z.object({
  id: z.string(),
  name: z.string(),
  path: z.string(),
  exists: z.boolean(),
  openTasks: z.number().int(),
  addedAt: z.iso.datetime(),
})

/** Where a run of the queue belongs. */
const placeFields = {
  task: z.string(),
  uid: z.string(),
  repo: z.string().describe('The git folder of its repository.'),
}

export const systemSchemas = {
  'system.notices': {
    input: z.object({ repo }),
    output: z.object({
      notices: list(
        z.object({
          at: z.iso.datetime(),
          task: z.string().optional(),
          message: z.string(),
          operation: z.string().optional().describe('Undo this operation to bring the task back.'),
        }),
      ),
    }),
  },
  'system.trust': {
    input: z.object({
      repo,
      show: z.boolean().optional(),
      revoke: z.boolean().optional(),
      ci: z.boolean().optional(),
      fingerprint: z.string().optional(),
    }),
    output: z.object({
      commands: list(z.object({ hook: z.string(), command: z.string() })),
      settings: list(z.object({ key: z.string(), value: z.unknown() })),
      files: list(z.object({ path: z.string(), sha256: z.string() })),
      fingerprint: z.string(),
      trusted: z.boolean(),
    }),
  },
  'system.pool': {
    input: z.object({ repo, clear: z.boolean().optional() }),
    output: z.object({ slots: z.number().int(), made: z.number().int(), warnings }),
  },
  'system.doctor': {
    input: z.object({ repo }),
    output: z.object({
      checks: list(
        z.object({
          name: z.string(),
          status: z.enum(['ok', 'warn', 'fail']),
          message: z.string(),
          hint: z.string(),
          why: z.string().optional().describe('Why it matters.'),
          verdict: z
            .string()
            .optional()
            .describe('What recover or the next use of the task will do about it.'),
        }),
      ),
    }),
  },
  'system.orphans': {
    input: z.object({ repo }),
    output: z.object({
      orphans: list(
        z.object({
          path: z.string(),
          kind: z.enum(['worktree', 'folder', 'missing']),
          branch: z.string().nullable(),
          task: z.string().nullable().describe('The task that has it, or had it.'),
          age: z
            .number()
            .int()
            .nullable()
            .describe('Milliseconds since the folder changed, or since the task that misses it was used.'),
        }),
      ),
    }),
  },
  'system.disk': {
    input: z.object({ repo, task: taskName.optional() }),
    output: z.object({
      workspaces: list(z.object({ task: z.string(), path: z.string(), bytes: z.number().int() })),
      vault: z.number().int(),
      pool: z.number().int(),
      trash: z.number().int(),
    }),
  },
  'system.recover': {
    input: z.object({}),
    output: z.object({
      recovered: list(
        z.object({
          task: z.string(),
          verdict: z.enum(['finished', 'rolled back', 'adopted', 'quarantined', 'left alone']),
          why: z.string(),
        }),
      ),
      reported: list(findingSchema).describe('Problems that it found and left to the user.'),
    }),
  },
  'system.ops': {
    input: z.object({ repo }),
    output: z.object({
      operations: list(
        z.object({
          id: z.string(),
          verb: z.string(),
          task: z.string(),
          at: z.iso.datetime(),
          undone: z.boolean(),
          undoes: z.string().optional(),
          batch: z.string().optional(),
          final: z.string().optional().describe('Why it cannot be undone.'),
          expired: z.boolean(),
        }),
      ),
    }),
  },
  'system.undo': {
    input: z.object({ repo, operation: z.string().min(1).optional() }),
    output: undone.extend({
      also: list(undone).optional().describe('What belonged to it, and was undone with it.'),
      errors: list(z.object({ undone: z.string(), task: z.string(), error: errorSchema }))
        .optional()
        .describe('What belonged to it, and could not be undone.'),
      warnings,
    }),
  },
  'system.audit': {
    input: z.object({
      repo,
      task: taskName.optional(),
      since: z.iso.datetime().optional().describe('Only entries from then on: 2026-11-15T00:00:00Z.'),
      failures: z.boolean().optional(),
      verify: z.boolean().optional(),
    }),
    output: z.object({
      events: list(
        z.object({
          seq: z.number().int(),
          at: z.iso.datetime(),
          task: z.string(),
          uid: z.string(),
          what: z.string(),
          by: z.string().optional(),
          commit: z.string().optional(),
          operation: z.string().optional(),
          detail: z.string(),
          input: z.string().optional(),
          inputHash: z.string().optional(),
        }),
      ).optional(),
      verified: z
        .object({
          entries: z.number().int(),
          head: z
            .string()
            .describe('The seal of the last entry. Kept elsewhere, it proves every entry before it.'),
          flaws: list(z.object({ seq: z.number().int(), what: z.string() })),
        })
        .optional(),
    }),
  },
  'system.direct': {
    input: z.object({
      repo: z.string().min(1).describe('The folder.'),
      command: z.array(z.string()).min(1).readonly().optional(),
      agent: z.string().min(1).optional(),
      prompt: z.string().optional(),
      policy: z.enum(policyLevels).optional(),
      allowed: list(z.string().min(1))
        .optional()
        .describe('Allowed tools, in a list: Read, Edit, Bash(npm test *).'),
      denied: list(z.string().min(1)).optional().describe('Denied tools, in a list.'),
      autoContinue: z.boolean().optional(),
      notify: list(z.enum(notifyWays)).optional(),
      isolation: z.enum(['direct']).optional(),
    }),
    output: z.object({
      direct: z.literal(true).describe('There is no task, so nothing is recorded and nothing can be undone.'),
      agent: z.string(),
      exitCode: z.number().int().optional().describe('The exit code of a command.'),
    }),
  },
  'system.agents': {
    input: z.object({ repo }),
    output: z.object({
      agents: list(
        z.object({
          name: z.string(),
          title: z.string(),
          exact: z.boolean().describe('Whether a step is one tool call.'),
          asks: z.boolean().describe('Whether it asks before each tool call, which a policy needs.'),
          path: z.string().nullable(),
          version: z.string().nullable(),
          install: z.string().nullable(),
        }),
      ),
    }),
  },
  'system.repos': {
    input: z.object({}),
    output: z.object({
      repos: list(repoSchema),
    }),
  },
  'system.queue': {
    input: z.object({}),
    output: z.object({
      kept: z.boolean().describe('A daemon runs, and starts what waits.'),
      waiting: list(z.object({ ...placeFields, ...queuedRunSchema.shape })).describe(
        'In the order in which they would start, if all could.',
      ),
      running: list(
        z.object({ ...placeFields, agent: z.string(), since: z.iso.datetime().optional() }),
      ).describe('The runs that take a turn.'),
    }),
  },
  'system.forget': {
    input: z.object({ repo: repo.describe('The repository, even if it is gone.') }),
    output: z.object({
      repo: z.string(),
      closed: list(z.object({ task: taskSchema, operation: z.string() })),
      errors: list(z.object({ task: taskSchema, error: errorSchema })),
    }),
  },
  'system.import': {
    input: z.object({ repo, file: z.string().min(1).optional(), dryRun: z.boolean().optional() }),
    output: z.object({
      settings: list(z.object({ key: z.string(), value: z.string(), from: z.string() })),
      path: z.string().describe('The settings file that they were written to.'),
      dryRun: z.boolean(),
    }),
  },
  'system.config': {
    input: z.object({ repo }),
    output: z.object({
      settings: list(
        z.object({
          key: z.string(),
          value: z.unknown(),
          origin: z.string(),
          /** The repository's own file has another value, which waits for trust. */
          waits: z.boolean().optional(),
        }),
      ),
    }),
  },
}
