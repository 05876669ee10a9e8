/** Schemas of the actions on one task, or on the tasks of a repository. */
import { z } from 'zod'
import { isolations, notifyWays, policyLevels, taskStates } from '../../core/model/enums.ts'
import { highestPriority } from '../../core/model/queue.ts'
import { strategies } from '../../core/model/strategies.ts'
import { markSchema, pairForecastSchema, taskForecastSchema, afterwardsSchema } from './forecast.ts'
import {
  askedSchema,
  conflictSchema,
  countedSchema,
  errorSchema,
  fileSchema,
  findingSchema,
  hookSchema,
  hunkSchema,
  list,
  metadataSchema,
  queuedRunSchema,
  repo,
  riskSchema,
  runSchema,
  leftSchema,
  skippedSchema,
  stepSchema,
  taskName,
  taskSchema,
  straySchema,
  transcriptSchema,
  warnings,
} from './common.ts'

const leftovers = list(
  z.object({
    n: z.number().int(),
    tool: z.string().describe('The tool that failed.'),
    files: list(z.string()),
    landed: z.boolean().describe('False: it was left out.'),
  }),
).describe('The steps with what failed tools left.')

const told = list(z.object({ task: taskSchema, why: z.string() }))

const putAwaySchema = z
  .number()
  .int()
  .describe('Of a shadow branch: how many files of the user have changes that wait for its end.')

const noStep = list(fileSchema).describe('The files of the workspace that no step holds as they are now.')

const unread = z.string().describe('Why only the steps are shown: the workspace cannot be read.')

const rejected = z.object({
  task: taskSchema,
  operation: z.string(),
  branchKept: z.boolean(),
  skipped: skippedSchema.optional().describe('Files that no step holds; the trash has them.'),
  left: leftSchema.describe('Files that somebody changed meanwhile, and that were not brought back.'),
  unkept: z.string().optional().describe('Why there is no step of the last changes; the trash has them.'),
})

const tools = list(z.string().min(1))

/** What a run takes, whether a door waits for its end or leaves it to itself. */
const runFields = {
  repo,
  task: taskName.optional(),
  create: z.boolean(),
  command: z.array(z.string()).min(1).readonly().optional(),
  agent: z.string().min(1).optional(),
  prompt: z.string().optional(),
  resume: z.union([z.boolean(), z.string().min(1)]).optional(),
  policy: z.enum(policyLevels).optional(),
  allowed: tools.optional().describe('Allowed tools, in a list: Read, Edit, Bash(npm test *).'),
  denied: tools.optional().describe('Denied tools, in a list.'),
  autoContinue: z.boolean().optional(),
  askTimeout: z.string().min(1).optional(),
  notify: list(z.enum(notifyWays)).optional(),
  base: z.string().min(1).optional(),
  from: z.string().min(1).optional(),
  branch: z.string().min(1).optional(),
  isolation: z.enum(isolations).optional(),
}

export const taskSchemas = {
  'task.find': {
    input: z.object({ repo, task: taskName.optional(), path: z.string().min(1).optional() }),
    output: z.object({ task: taskSchema.nullable().describe('Null when there is none.') }),
  },
  'task.exists': {
    input: z.object({ repo, task: taskName }),
    output: z.object({ exists: z.boolean() }),
  },
  'task.start': {
    input: z.object({
      repo,
      task: taskName.optional(),
      title: z.string().optional(),
      from: z.string().min(1).optional(),
      branch: z.string().min(1).optional(),
      existingBranch: z.string().min(1).optional(),
      isolation: z.enum(isolations).optional(),
      base: z.string().min(1).optional().describe('The folder for the workspace, instead of workspace.base.'),
      dirty: z.boolean().optional(),
      group: z.string().min(1).optional().describe('An id shared by the tasks of one prompt.'),
    }),
    output: z.object({
      task: taskSchema,
      reused: z.boolean(),
      recreated: z.boolean(),
      putAway: putAwaySchema.optional(),
      included: z
        .object({ copied: list(z.string()), linked: list(z.string()), secrets: list(z.string()) })
        .optional()
        .describe('Ignored files of the checkout that a new workspace was given.'),
      submodules: z
        .object({
          filled: list(z.string()),
          empty: list(z.object({ path: z.string(), why: z.string() })),
        })
        .optional()
        .describe(
          'The submodules of a new workspace: filled from the repository’s own copies, or left empty.',
        ),
      pointers: list(z.string()).optional().describe('Files that hold only a Git LFS pointer.'),
      setup: hookSchema.optional().describe('The outcome of hooks.postStart.'),
      warnings,
    }),
  },
  'task.list': {
    input: z.object({ repo, all: z.boolean().optional(), state: z.enum(taskStates).optional() }),
    output: z.object({
      tasks: list(taskSchema),
      seq: z
        .number()
        .int()
        .describe(
          'The entry of the log that the tasks are as of: `watch --since` misses no change after it.',
        ),
      forecast: z
        .object({ at: z.iso.datetime(), marks: list(markSchema) })
        .optional()
        .describe('What the last forecast said of these tasks; left out where there is none.'),
      movedFrom: z
        .string()
        .optional()
        .describe('The folder that the repository was moved from; `repair` records the new one.'),
    }),
  },
  'task.show': {
    input: z.object({ repo, task: taskName.optional() }),
    output: z.object({
      task: taskSchema,
      landedIn: z
        .object({
          operation: z.string(),
          branch: z.string().optional().describe('The branch that was moved.'),
          commit: z.string().optional().describe('The commit that it was moved to.'),
          checkout: z.string().optional().describe('The checkout whose files were written.'),
        })
        .optional()
        .describe('Where an accepted task has landed.'),
      putAway: putAwaySchema.optional(),
      otherBranch: z
        .string()
        .optional()
        .describe('The branch that the workspace is on, if that is not the branch of the task.'),
      strays: list(straySchema)
        .optional()
        .describe('What changed in the repository and the checkout during the last run of the task.'),
      operation: z.string().optional().describe('Undo this operation to put back the strays that are kept.'),
      checkpoints: list(stepSchema).describe('The last steps.'),
      files: list(countedSchema).describe('All that the task has changed so far, with what is no step yet.'),
      noStep: noStep.optional(),
      unread: unread.optional(),
      runs: list(runSchema).describe('All runs, oldest first, with what each took.'),
      lastWords: z.string().optional().describe('The last message of the agent.'),
      forecast: taskForecastSchema
        .extend({ pairs: list(pairForecastSchema) })
        .optional()
        .describe(
          'What the task would meet if it landed; left out of a closed task, and if it takes too long.',
        ),
      denied: list(
        z.object({ tool: z.string(), summary: z.string(), reason: z.string(), at: z.iso.datetime() }),
      ).describe('The calls that were denied in the last run of an agent.'),
    }),
  },
  'task.checkpoint': {
    input: z.object({
      repo,
      task: taskName.optional(),
      tool: z.string().optional(),
      summary: z.string().optional(),
      run: z.string().optional(),
      call: z.string().optional(),
      files: list(z.string()).optional(),
      ignored: z.boolean().optional(),
    }),
    output: z.object({
      created: z.boolean(),
      checkpoint: stepSchema,
      ignored: list(z.string()),
      unpublished: z
        .string()
        .optional()
        .describe('Why the step is not on the branch, although it should be.'),
      warnings,
    }),
  },
  'task.log': {
    input: z.object({ repo, task: taskName.optional(), agent: z.boolean().optional() }),
    output: z.object({
      task: taskSchema,
      checkpoints: list(stepSchema),
      runs: list(transcriptSchema)
        .optional()
        .describe('What the agents said and did, if the input asks for it.'),
    }),
  },
  'task.diff': {
    input: z.object({
      repo,
      task: taskName.optional(),
      step: z.string().optional(),
      format: z.enum(['patch', 'stat', 'names']).optional(),
      binary: z.boolean().optional(),
      color: z.boolean().optional(),
      hunks: z.boolean().optional(),
    }),
    output: z.object({
      from: z.number().int(),
      to: z.number().int(),
      files: list(countedSchema),
      insertions: z.number().int(),
      deletions: z.number().int(),
      noStep: noStep.optional(),
      unread: unread.optional(),
      hunks: list(hunkSchema)
        .optional()
        .describe('The hunks of the whole task that are left to land, if the input asks for them.'),
      diff: z.string().describe('The output of git; bytes that are not UTF-8 are replaced.'),
    }),
  },
  'task.rewind': {
    input: z.object({
      repo,
      task: taskName.optional(),
      to: z.number().int().nonnegative(),
      force: z.boolean().optional(),
    }),
    output: z.object({
      task: taskSchema,
      checkpoint: stepSchema,
      kept: z.number().int().optional(),
      operation: z.string(),
      warnings,
    }),
  },
  'task.run': {
    input: z.object({ ...runFields, entry: z.string().min(1).optional() }),
    output: z.object({
      task: taskSchema,
      run: z.string(),
      agent: z.string(),
      exitCode: z.number().int().optional().describe('The exit code of a command.'),
      conversation: z.string().optional().describe('The agent’s own id of the conversation.'),
      strays: list(straySchema).describe(
        'Refs, files of the git folder, hooks and files of the checkout that changed during the run, besides branches of tasks.',
      ),
      operation: z.string().optional().describe('Undo this operation to put back the strays that are kept.'),
      checkpoint: stepSchema.optional(),
      warnings,
    }),
  },
  'task.detach': {
    input: z.object({
      ...runFields,
      cleanup: z.boolean().optional(),
      priority: z.number().int().min(-highestPriority).max(highestPriority).optional(),
      metadata: metadataSchema.optional(),
    }),
    output: z.object({
      task: taskSchema,
      pid: z.number().int().optional().describe('The process that the run goes on in, once it has begun.'),
      queued: queuedRunSchema.optional().describe('Its place in the queue of the daemon, if it waits.'),
      log: z.string().describe('The file that it writes its events to, one line of JSON each.'),
      warnings,
    }),
  },
  'task.attach': {
    input: z.object({ repo, task: taskName.optional() }),
    output: z.object({ task: taskSchema }),
  },
  'task.plan': {
    input: z.object({
      repo,
      agents: list(z.string()).optional(),
      policy: z.enum(policyLevels).optional(),
      allowed: list(z.string().min(1)).optional(),
      denied: list(z.string().min(1)).optional(),
    }),
    output: z.object({ agents: list(z.string()).describe('The agent of each run.') }),
  },
  'task.compare': {
    input: z.object({ repo, tasks: z.array(taskName).min(2).readonly(), diff: z.boolean().optional() }),
    output: z.object({
      tasks: list(
        z.object({
          task: taskSchema,
          files: list(z.string()),
          shared: list(z.string()).describe('The files that another of these tasks changed too.'),
          seconds: z.number().int().describe('How long the runs of its agents took.'),
        }),
      ),
      diff: z.string().optional().describe('The difference between the first two.'),
    }),
  },
  'task.stop': {
    input: z.object({ repo, task: taskName.optional() }),
    output: z.object({ task: taskSchema, stopped: z.boolean() }),
  },
  'task.answer': {
    input: z.object({
      repo,
      task: taskName.optional(),
      answer: z.enum(['y', 'n', 'always']).optional(),
      question: z.string().min(1).optional(),
    }),
    output: z.object({
      task: taskSchema,
      asked: askedSchema,
      input: z.unknown().optional().describe('All that the tool would be given; it may hold secrets.'),
      said: z.enum(['once', 'always', 'deny']).optional().describe('Left out: the question is still open.'),
    }),
  },
  'task.say': {
    input: z.object({ repo, task: taskName.optional(), text: z.string().min(1) }),
    output: z.object({ task: taskSchema }),
  },
  'task.install': {
    input: z.object({ repo, task: taskName.optional(), agent: z.string().min(1).optional() }),
    output: z.object({
      task: taskSchema,
      files: list(z.string()).describe('Paths in the workspace; git and steps ignore these files.'),
      skipped: list(z.string()).describe('Paths where another file was in the way.'),
    }),
  },
  'task.accept': {
    input: z.object({
      repo,
      task: taskName.optional(),
      as: z.enum(strategies).optional(),
      onto: z.string().min(1).optional(),
      message: z.string().optional(),
      only: list(z.string()).optional(),
      steps: list(z.number().int().positive()).optional(),
      hunks: list(z.string()).optional(),
      withoutFailed: z.boolean().optional(),
      conflicts: z.enum(['fail', 'markers']).optional(),
      dryRun: z.boolean().optional(),
      keep: z.boolean().optional(),
      allow: list(z.string()).optional(),
      failOnRisk: z.boolean().optional(),
      hooks: z.boolean().optional(),
    }),
    output: z.object({
      task: taskSchema,
      accepted: z
        .object({
          as: z.enum(strategies),
          onto: z.string().optional(),
          commit: z.string().optional(),
          url: z.string().optional().describe('The address of the pull request.'),
          files: list(fileSchema),
          left: list(z.string())
            .optional()
            .describe('Submodules that a patch has no place for: the task stays open with them.'),
          runsCode: list(z.string()).describe('Files that run later, or steer a tool that does.'),
          risks: list(riskSchema).describe(
            'The same with the reason, commits of other authors, and what failed tools left.',
          ),
          leftovers,
        })
        .optional(),
      conflicts: list(conflictSchema)
        .optional()
        .describe('Files that landed with conflict markers, for the user to resolve.'),
      operation: z.string().optional(),
      skipped: skippedSchema.optional().describe('Files that no step holds, and that cannot land.'),
      left: leftSchema.describe('Files that somebody changed while they landed, and that were not written.'),
      hook: hookSchema.optional().describe('The outcome of hooks.postAccept.'),
      siblings: list(z.string())
        .optional()
        .describe('Open tasks of the same prompt, which are no longer needed.'),
      preview: z
        .object({
          clean: z.boolean(),
          conflicts: list(conflictSchema),
          marked: list(conflictSchema).describe('Files that would land with conflict markers.'),
          files: list(fileSchema),
          left: list(z.string()).describe('Submodules that this strategy has no place for.'),
          runsCode: list(z.string()),
          risks: list(riskSchema),
          refused: list(riskSchema),
          leftovers,
          hint: z.string().optional().describe('What to do when it would not land.'),
          afterwards: afterwardsSchema
            .optional()
            .describe('Tasks that would land now, and conflict when this one has landed.'),
        })
        .optional(),
      warnings,
    }),
  },
  'task.update': {
    input: z.object({
      repo,
      task: taskName.optional(),
      onto: z.string().min(1).optional(),
      dirty: z.boolean().optional(),
      conflicts: z.enum(['fail', 'markers']).optional(),
    }),
    output: z.object({
      task: taskSchema,
      checkpoint: stepSchema.optional(),
      conflicts: list(conflictSchema),
      operation: z.string().optional().describe('Left out when there was nothing new.'),
      warnings,
    }),
  },
  'task.reject': {
    input: z.object({
      repo,
      task: taskName.optional(),
      keepBranch: z.boolean().optional(),
      batch: z.string().min(1).optional(),
    }),
    output: rejected,
  },
  'task.delete': {
    input: z.object({ repo, task: taskName.optional() }),
    output: rejected,
  },
  'task.repair': {
    input: z.object({ repo, task: taskName.optional(), rebuild: z.boolean().optional() }),
    output: z.object({
      task: taskSchema.optional().describe('The task, if the input names one; else everything was checked.'),
      mended: z.enum(['sound', 'mended', 'recreated']).optional(),
      repaired: list(findingSchema),
      left: list(findingSchema).describe('Problems that it could not, or must not, repair.'),
      rebuilt: z
        .object({
          aside: z.string().optional().describe('Where the damaged records were put.'),
          tasks: list(z.string()),
          steps: z.number().int(),
          operations: z.number().int(),
          left: list(z.object({ what: z.string(), why: z.string(), hint: z.string() })),
        })
        .optional(),
    }),
  },
  'task.prune': {
    input: z.object({
      repo,
      olderThanMs: z
        .number()
        .nonnegative()
        .optional()
        .describe('Unused for more milliseconds than this (default: prune.maxAgeDays).'),
      dryRun: z.boolean().optional(),
      force: z.boolean().optional(),
      keepBranches: z.boolean().optional(),
    }),
    output: z.object({
      dryRun: z.boolean(),
      stale: told.describe('Tasks that the rules allow to prune, oldest first.'),
      removed: list(z.object({ task: taskSchema, why: z.string(), operation: z.string() })),
      skipped: told,
      errors: list(z.object({ task: taskSchema, error: errorSchema })),
      warnings: list(z.string()),
    }),
  },
}
