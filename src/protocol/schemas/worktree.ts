/** Schemas of the actions on worktrees. */
import { z } from 'zod'
import { taskStates } from '../../core/model/enums.ts'
import { list, repo, taskName, taskSchema } from './common.ts'

export const worktreeSchemas = {
  'worktree.list': {
    input: z.object({ repo, all: z.boolean().optional() }),
    output: z.object({
      worktrees: list(
        z.object({
          path: z.string(),
          branch: z.string().nullable().describe('Null on a detached HEAD.'),
          head: z.string().nullable(),
          isMain: z.boolean(),
          isOrphan: z.boolean().describe('We made it, and no open task has it.'),
          task: z.string().nullable().describe('The open task that has it.'),
          state: z.enum(taskStates).nullable(),
        }),
      ),
      tasks: list(taskSchema),
    }),
  },
  'worktree.remove': {
    input: z.object({
      repo,
      task: taskName.optional(),
      path: z.string().optional(),
      name: z.string().optional(),
      force: z.boolean().optional(),
      keepBranch: z.boolean().optional(),
    }),
    output: z.object({
      removed: z.boolean(),
      task: taskSchema,
      branchKept: z.boolean(),
      ignored: list(z.string()),
      trash: z.string().nullable(),
      operation: z.string().optional(),
    }),
  },
}
