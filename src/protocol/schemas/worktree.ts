/** Schemas of the actions on worktrees. */
import { z } from 'zod'
import { list, repo, taskName, taskSchema } from './common.ts'

export const worktreeSchemas = {
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
