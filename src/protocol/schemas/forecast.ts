/** Schemas of the conflict forecast. */
import { z } from 'zod'
import { conflictSchema, list, repo, taskName } from './common.ts'

const meeting = {
  level: z
    .enum(['none', 'same-file', 'conflict', 'unknown'])
    .describe('`same-file`: both change a file, and it merges cleanly. `unknown`: `why` says why.'),
  files: list(z.string()).describe('The files that both change.'),
  conflicts: list(conflictSchema),
  why: z.string().optional(),
}

export const taskForecastSchema = z.object({
  task: z.string(),
  step: z.number().int().describe('The last step, which the forecast is made from.'),
  files: z.number().int().describe('How many files it would land.'),
  branch: z.string().nullable().describe('The branch that it was started from.'),
  target: z.object(meeting).describe('Against that branch as it is now.'),
  checkout: z
    .object(meeting)
    .describe('Against the checkout with uncommitted changes, as accept --as patch.'),
})

export const pairForecastSchema = z.object({
  first: z.string().describe('The task that lands first.'),
  second: z.string(),
  ...meeting,
  on: z
    .enum(['checkout', 'start'])
    .describe(
      'Tried in the checkout, or on the files that `second` started with, if one does not land there.',
    ),
})

export const afterwardsSchema = list(z.object({ task: z.string(), conflicts: list(conflictSchema) }))

export const markSchema = z.object({
  task: z.string(),
  conflicts: list(z.string()).describe('Ids of other tasks, `target` and `checkout`.'),
  outdated: z.boolean().describe('One of these tasks has gone on since.'),
})

const orderSchema = list(z.object({ task: z.string(), why: z.string() }))

/** What is different from the forecast that a client was told before. */
export const forecastChangeSchema = z.object({
  repo: z.string().describe('The id of the repository, as system.repos lists it.'),
  whole: z
    .boolean()
    .describe('It is all of the forecast: what you knew of this repository before counts no more.'),
  at: z.iso.datetime(),
  checkout: z.string().describe('Empty when the tasks were started in several: each is tried where it was.'),
  tasks: list(taskForecastSchema).describe('Tasks that are new, or whose own forecast is another one.'),
  pairs: list(pairForecastSchema).describe(
    'Pairs that meet otherwise than before; `none`: they do not meet any more.',
  ),
  gone: list(z.string()).describe('Tasks that are not open any more, and their pairs with them.'),
  order: orderSchema.optional().describe('The whole order, if it is another one.'),
})

export const forecastSchemas = {
  'task.forecast': {
    input: z.object({ repo, after: list(taskName).optional() }),
    output: z.object({
      at: z.iso.datetime(),
      checkout: z.string().describe('The checkout that the tasks would land in.'),
      after: list(taskForecastSchema).describe('The tasks that count as landed, if they land cleanly.'),
      tasks: list(taskForecastSchema).describe('The other open tasks, oldest first.'),
      pairs: list(pairForecastSchema).describe('The pairs that change a file in common.'),
      order: orderSchema.describe('An order to land them in.'),
    }),
  },
}
