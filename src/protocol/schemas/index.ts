/** Schemas of the input and output of every action. Browser-safe: nothing here imports Node. */
import type { z } from 'zod'
import type { ActionName } from '../../actions/index.ts'
import { forecastSchemas } from './forecast.ts'
import { systemSchemas } from './system.ts'
import { taskSchemas } from './task.ts'
import { tokenSchemas } from './token.ts'
import { worktreeSchemas } from './worktree.ts'

export const schemas = {
  ...taskSchemas,
  ...forecastSchemas,
  ...worktreeSchemas,
  ...systemSchemas,
  ...tokenSchemas,
} satisfies Record<ActionName, { input: z.ZodObject; output: z.ZodObject }>

export type Input<A extends ActionName> = z.infer<(typeof schemas)[A]['input']>
export type Output<A extends ActionName> = z.infer<(typeof schemas)[A]['output']>
