/** Every action that any door offers, with the shape of what goes in and what comes out. Browser-safe. */
import { z } from 'zod'
import { policyLevels } from '../core/policy-levels.ts'
import { strategies } from '../core/strategies.ts'
import { isolations, taskStates } from '../core/task.ts'

const repo = z.string().min(1).describe('A folder in the repository; what -C is on the command line.')
const taskName = z.string().min(1)
const worktreeName = z.object({
  repo,
  task: taskName.optional(),
  path: z.string().optional(),
  name: z.string().optional(),
})

const taskSchema = z.object({
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
  agent: z.string().optional(),
  conversation: z.string().optional(),
  wanted: z.string().optional().describe('What the agent wanted in its last run, and only the user may do.'),
  runs: z.number().int(),
  slug: z.string().describe('A name for databases and the like that is this task’s alone.'),
  ports: z.array(z.number().int()).optional().describe('Those that its servers may listen on.'),
  running: z.literal(true).optional().describe('A run is under way.'),
  reason: z.string().optional(),
})

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string(),
  path: z.string().optional(),
})

const fileSchema = z.object({ path: z.string(), status: z.enum(['added', 'modified', 'deleted']) })

const hunkSchema = z.object({
  id: z.string().describe('Made from path and content: it changes when the hunk does.'),
  path: z.string(),
  header: z.string(),
  oldStart: z.number().int(),
  oldLines: z.number().int(),
  newStart: z.number().int(),
  newLines: z.number().int(),
  insertions: z.number().int(),
  deletions: z.number().int(),
})

const hookSchema = z.object({ hook: z.string(), ok: z.boolean(), why: z.string() })

const start = {
  summary: 'Make a task and its workspace, or go on with the open task of that id',
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
    group: z.string().min(1).optional().describe('The same for tasks that are made to do the same.'),
  }),
  output: z.object({
    task: taskSchema,
    reused: z.boolean(),
    recreated: z.boolean(),
    included: z
      .object({ copied: z.array(z.string()), linked: z.array(z.string()), secrets: z.array(z.string()) })
      .optional()
      .describe('Ignored files of the checkout that a new workspace was given.'),
    submodules: z
      .object({
        filled: z.array(z.string()),
        empty: z.array(z.object({ path: z.string(), why: z.string() })),
      })
      .optional()
      .describe('Those of a new workspace: checked out from the repository’s own copies, or left empty.'),
    pointers: z.array(z.string()).optional().describe('Files whose content is in Git LFS and did not come.'),
    setup: hookSchema.optional().describe('What became of hooks.postStart.'),
  }),
}

const list = {
  summary: 'List tasks',
  input: z.object({ repo, all: z.boolean().optional(), state: z.enum(taskStates).optional() }),
  output: z.object({ tasks: z.array(taskSchema) }),
}

const show = {
  summary: 'Show one task, with a look at its workspace',
  input: z.object({ repo, task: taskName.optional() }),
  output: z.object({ task: taskSchema }),
}

const conflictSchema = z.object({ path: z.string(), kind: z.string() })

const stepSchema = z.object({
  n: z.number().int(),
  commit: z.string().describe('The id in the vault.'),
  published: z.string().optional().describe("The id that `git show` finds in the user's repository."),
  tool: z.string(),
  summary: z.string(),
  files: z.array(fileSchema),
  at: z.iso.datetime(),
  run: z.string().optional(),
  call: z.string().optional(),
  rewindTo: z.number().int().optional(),
  skipped: z.array(z.object({ path: z.string(), why: z.string() })),
})

const findingSchema = z.object({ name: z.string(), message: z.string(), hint: z.string() })

const told = z.array(z.object({ task: taskSchema, why: z.string() }))

const prune = {
  summary: 'Take away what has landed or has not been used for long, into the trash',
  input: z.object({
    repo,
    olderThanMs: z.number().nonnegative().optional(),
    dryRun: z.boolean().optional(),
    force: z.boolean().optional(),
  }),
  output: z.object({
    dryRun: z.boolean(),
    stale: told.describe('What could go by the rules, oldest first.'),
    removed: z.array(z.object({ task: taskSchema, why: z.string(), operation: z.string() })),
    skipped: told,
    errors: z.array(z.object({ task: taskSchema, error: errorSchema })),
    warnings: z.array(z.string()),
  }),
}

export const actions = {
  'system.trust': {
    summary: 'Let the commands of the repository’s own settings run, exactly as they are now',
    input: z.object({
      repo,
      show: z.boolean().optional(),
      revoke: z.boolean().optional(),
      isUnattended: z.boolean().optional(),
      ci: z.boolean().optional(),
    }),
    output: z.object({
      commands: z.array(z.object({ hook: z.string(), command: z.string() })),
      trusted: z.boolean(),
    }),
  },
  'system.pool': {
    summary: 'Make workspaces ahead, so that the next start has nothing to wait for',
    input: z.object({ repo, clear: z.boolean().optional() }),
    output: z.object({ slots: z.number().int(), made: z.number().int() }),
  },
  'task.start': start,
  'task.list': list,
  'task.show': show,
  'task.checkpoint': {
    summary: 'Take the workspace as it is: one step, unless nothing has changed',
    input: z.object({
      repo,
      task: taskName.optional(),
      tool: z.string().optional(),
      summary: z.string().optional(),
      run: z.string().optional(),
      call: z.string().optional(),
      files: z.array(z.string()).optional(),
      ignored: z.boolean().optional(),
    }),
    output: z.object({
      created: z.boolean(),
      checkpoint: stepSchema,
      ignored: z.array(z.string()),
      unpublished: z
        .string()
        .optional()
        .describe('Why the step is not on the branch, although it should be.'),
    }),
  },
  'task.log': {
    summary: 'List the steps of a task',
    input: z.object({ repo, task: taskName.optional() }),
    output: z.object({ task: taskSchema, checkpoints: z.array(stepSchema) }),
  },
  'task.diff': {
    summary: 'Show what a task, a step or a range of steps changed',
    input: z.object({
      repo,
      task: taskName.optional(),
      step: z.string().optional(),
      format: z.enum(['patch', 'stat', 'names']).optional(),
      color: z.boolean().optional(),
      hunks: z.boolean().optional(),
    }),
    output: z.object({
      from: z.number().int(),
      to: z.number().int(),
      files: z.array(fileSchema),
      insertions: z.number().int(),
      deletions: z.number().int(),
      hunks: z
        .array(hunkSchema)
        .optional()
        .describe('What is left to land of the whole task, if that was asked for.'),
      diff: z.string().describe('As git prints it; bytes that are no UTF-8 are replaced.'),
    }),
  },
  'task.rewind': {
    summary: 'Put the workspace back to a step; what is there now is recorded first',
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
    }),
  },
  'task.run': {
    summary: 'Run an agent or any command in the workspace of a task, with a step for each tool call',
    input: z.object({
      repo,
      task: taskName.optional(),
      starts: z.boolean(),
      command: z.array(z.string()).min(1).optional(),
      agent: z.string().min(1).optional(),
      prompt: z.string().optional(),
      resume: z.union([z.boolean(), z.string().min(1)]).optional(),
      policy: z.enum(policyLevels).optional(),
      allowed: z.array(z.string().min(1)).optional(),
      denied: z.array(z.string().min(1)).optional(),
      autoContinue: z.boolean().optional(),
      base: z.string().min(1).optional(),
    }),
    output: z.object({
      task: taskSchema,
      run: z.string(),
      agent: z.string(),
      exitCode: z.number().int().optional().describe('Of a command.'),
      conversation: z.string().optional().describe('What the agent calls it.'),
      strays: z
        .array(z.object({ what: z.string(), before: z.string().nullable(), after: z.string().nullable() }))
        .describe('What has changed meanwhile in the repository, besides branches of tasks.'),
      operation: z.string().optional().describe('Undone, it puts those of them back that are refs.'),
      checkpoint: stepSchema.optional(),
    }),
  },
  'task.compare': {
    summary: 'Put tasks side by side: outcome, files, lines, time, and what they have in common',
    input: z.object({ repo, tasks: z.array(taskName).min(2), diff: z.boolean().optional() }),
    output: z.object({
      tasks: z.array(
        z.object({
          task: taskSchema,
          files: z.array(z.string()),
          shared: z.array(z.string()).describe('Those that another one of them changed, too.'),
          seconds: z.number().int().describe('How long its runs took.'),
        }),
      ),
      diff: z.string().optional().describe('What lies between the first two.'),
    }),
  },
  'task.stop': {
    summary: 'End the agent that is at work on a task; its work is kept',
    input: z.object({ repo, task: taskName.optional() }),
    output: z.object({ task: taskSchema, stopped: z.boolean() }),
  },
  'task.install': {
    summary: 'Put commands for the agent itself into the workspace: status, accept, reject',
    input: z.object({ repo, task: taskName.optional(), agent: z.string().min(1).optional() }),
    output: z.object({
      task: taskSchema,
      files: z.array(z.string()).describe('As seen from the workspace; git and steps leave them out.'),
      skipped: z.array(z.string()).describe('Something else has that name.'),
    }),
  },
  'task.accept': {
    summary: 'Land the work of a task, all or any part of it',
    input: z.object({
      repo,
      task: taskName.optional(),
      as: z.enum(strategies).optional(),
      onto: z.string().min(1).optional(),
      message: z.string().optional(),
      only: z.array(z.string()).optional(),
      steps: z.array(z.number().int().positive()).optional(),
      hunks: z.array(z.string()).optional(),
      conflicts: z.enum(['fail', 'markers']).optional(),
      dryRun: z.boolean().optional(),
      keep: z.boolean().optional(),
      allow: z.array(z.string()).optional(),
      hooks: z.boolean().optional(),
    }),
    output: z.object({
      task: taskSchema,
      accepted: z
        .object({
          as: z.enum(strategies),
          onto: z.string().optional(),
          commit: z.string().optional(),
          url: z.string().optional().describe('Of the pull request.'),
          files: z.array(fileSchema),
        })
        .optional(),
      conflicts: z
        .array(conflictSchema)
        .optional()
        .describe('What landed with conflict markers in it, to be solved by you.'),
      operation: z.string().optional(),
      hook: hookSchema.optional().describe('What became of hooks.postAccept.'),
      siblings: z
        .array(z.string())
        .optional()
        .describe('Open tasks that were made to do the same: now there is no need of them.'),
      preview: z
        .object({
          clean: z.boolean(),
          conflicts: z.array(conflictSchema),
          marked: z.array(conflictSchema).describe('What would land with conflict markers in it.'),
          files: z.array(fileSchema),
          runsCode: z.array(z.string()),
          refused: z.array(z.object({ path: z.string(), why: z.string() })),
        })
        .optional(),
    }),
  },
  'task.update': {
    summary: 'Bring the target into the workspace, so that conflicts are solved there',
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
      conflicts: z.array(conflictSchema),
    }),
  },
  'task.reject': {
    summary: 'Give the work of a task up; all of it can come back',
    input: z.object({ repo, task: taskName.optional(), keepBranch: z.boolean().optional() }),
    output: z.object({ task: taskSchema, operation: z.string(), branchKept: z.boolean() }),
  },
  'task.delete': {
    summary: 'Give the work up and hide the record',
    input: z.object({ repo, task: taskName.optional() }),
    output: z.object({ task: taskSchema, operation: z.string(), branchKept: z.boolean() }),
  },
  'task.repair': {
    summary: 'Make whole what is gone or damaged: one workspace, or all that doctor finds',
    input: z.object({ repo, task: taskName.optional(), rebuild: z.boolean().optional() }),
    output: z.object({
      task: taskSchema.optional().describe('Of one task; without it, all were looked at.'),
      mended: z.enum(['sound', 'mended', 'recreated']).optional(),
      repaired: z.array(findingSchema),
      left: z.array(findingSchema).describe('What it could not, or must not, put right.'),
      rebuilt: z
        .object({
          aside: z.string().optional().describe('Where the damaged records were put.'),
          tasks: z.array(z.string()),
          steps: z.number().int(),
          operations: z.number().int(),
          left: z.array(z.object({ what: z.string(), why: z.string(), hint: z.string() })),
        })
        .optional(),
    }),
  },
  'worktree.create': start,
  'worktree.list': list,
  'worktree.show': show,
  'worktree.remove': {
    summary: 'Take a workspace, its branch and its registration away, into the trash',
    input: worktreeName.extend({ force: z.boolean().optional(), keepBranch: z.boolean().optional() }),
    output: z.object({
      removed: z.boolean(),
      task: taskSchema,
      branchKept: z.boolean(),
      ignored: z.array(z.string()),
      trash: z.string().nullable(),
      operation: z.string().optional(),
    }),
  },
  'task.prune': prune,
  'worktree.prune': prune,
  'system.doctor': {
    summary: 'Look at everything offshoot stands on, and mend nothing',
    input: z.object({ repo }),
    output: z.object({
      checks: z.array(
        z.object({
          name: z.string(),
          status: z.enum(['ok', 'warn', 'fail']),
          message: z.string(),
          hint: z.string(),
          why: z.string().optional().describe('Why it matters.'),
          verdict: z.string().optional().describe('What recover or the next use makes of it.'),
        }),
      ),
    }),
  },
  'system.disk': {
    summary: 'Tell what workspaces, vault, pool and trash of a repository cost on the disk',
    input: z.object({ repo, task: taskName.optional() }),
    output: z.object({
      workspaces: z.array(z.object({ task: z.string(), path: z.string(), bytes: z.number().int() })),
      vault: z.number().int(),
      pool: z.number().int(),
      trash: z.number().int(),
    }),
  },
  'system.recover': {
    summary: 'Finish or take back what died half-way',
    input: z.object({}),
    output: z.object({
      recovered: z.array(
        z.object({
          task: z.string(),
          verdict: z.enum(['finished', 'rolled back', 'adopted', 'quarantined', 'left alone']),
          why: z.string(),
        }),
      ),
      reported: z.array(findingSchema).describe('What it found and left to you.'),
    }),
  },
  'system.ops': {
    summary: 'List the operations, and which of them cannot be undone',
    input: z.object({ repo }),
    output: z.object({
      operations: z.array(
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
    summary: 'Take the last operation back, or a named one',
    input: z.object({ repo, operation: z.string().min(1).optional() }),
    output: z.object({
      task: taskSchema,
      undone: z.string(),
      verb: z.string(),
      operation: z.string(),
      files: z.array(z.string()),
    }),
  },
  'system.audit': {
    summary: 'Show what offshoot did, from a log that nothing changes; or check that log',
    input: z.object({
      repo,
      task: taskName.optional(),
      since: z.iso.datetime().optional(),
      failures: z.boolean().optional(),
      verify: z.boolean().optional(),
    }),
    output: z.object({
      events: z
        .array(
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
          }),
        )
        .optional(),
      verified: z
        .object({
          entries: z.number().int(),
          head: z.string().describe('The seal of the last entry: noted elsewhere, it proves all before it.'),
          flaws: z.array(z.object({ seq: z.number().int(), what: z.string() })),
        })
        .optional(),
    }),
  },
  'system.direct': {
    summary:
      'Run an agent or any command outside of a repository, in the folder itself, if the settings allow it',
    input: z.object({
      repo: z.string().min(1).describe('The folder.'),
      command: z.array(z.string()).min(1).optional(),
      agent: z.string().min(1).optional(),
      prompt: z.string().optional(),
      policy: z.enum(policyLevels).optional(),
      allowed: z.array(z.string().min(1)).optional(),
      denied: z.array(z.string().min(1)).optional(),
      autoContinue: z.boolean().optional(),
    }),
    output: z.object({
      direct: z.literal(true).describe('There is no task: nothing is kept, nothing can be undone.'),
      agent: z.string(),
      exitCode: z.number().int().optional().describe('Of a command.'),
    }),
  },
  'system.agents': {
    summary: 'List the agents that can be run, and which are installed',
    input: z.object({ repo }),
    output: z.object({
      agents: z.array(
        z.object({
          name: z.string(),
          title: z.string(),
          exact: z.boolean().describe('Whether a step is one tool call.'),
          asks: z.boolean().describe('Whether it asks before each tool call, so that a policy can be kept.'),
          path: z.string().nullable(),
          version: z.string().nullable(),
          install: z.string().nullable(),
        }),
      ),
    }),
  },
  'system.repos': {
    summary: 'List the repositories that offshoot knows',
    input: z.object({}),
    output: z.object({
      repos: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          path: z.string(),
          exists: z.boolean(),
          openTasks: z.number().int(),
          addedAt: z.iso.datetime(),
        }),
      ),
    }),
  },
  'system.forget': {
    summary: 'Close every task of a repository into the trash, and list it no more',
    input: z.object({ repo: repo.describe('The repository, also when it is gone.') }),
    output: z.object({
      repo: z.string(),
      closed: z.array(z.object({ task: taskSchema, operation: z.string() })),
      errors: z.array(z.object({ task: taskSchema, error: errorSchema })),
    }),
  },
  'system.import': {
    summary: 'Take over what the repository tells other tools about setting a workspace up',
    input: z.object({ repo, file: z.string().min(1).optional(), dryRun: z.boolean().optional() }),
    output: z.object({
      settings: z.array(z.object({ key: z.string(), value: z.string(), from: z.string() })),
      path: z.string().describe('The settings file that has it now.'),
      dryRun: z.boolean(),
    }),
  },
  'system.config': {
    summary: 'Show the settings and where each comes from',
    input: z.object({ repo }),
    output: z.object({
      settings: z.array(z.object({ key: z.string(), value: z.unknown(), origin: z.string() })),
    }),
  },
} as const satisfies Record<string, { summary: string; input: z.ZodObject; output: z.ZodObject }>

export type ActionName = keyof typeof actions
export type Input<A extends ActionName> = z.infer<(typeof actions)[A]['input']>
export type Output<A extends ActionName> = z.infer<(typeof actions)[A]['output']>
