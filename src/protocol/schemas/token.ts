/** Schemas of the actions on tokens. */
import { z } from 'zod'
import { scopes } from '../../core/model/enums.ts'
import { list, repo, taskName } from './common.ts'

const tokenSchema = z.object({
  id: z.string(),
  name: z.string(),
  scope: z.enum([...scopes, 'task', 'page']),
  task: z.string().exactOptional().describe('The task that it is for.'),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  expired: z.boolean(),
})

export const tokenSchemas = {
  'token.create': {
    input: z.object({
      repo: repo.optional(),
      scope: z.enum(scopes).optional(),
      task: taskName.optional(),
      name: z.string().max(100).optional(),
      days: z.number().int().optional(),
    }),
    output: z.object({
      token: z.string().describe('The token itself, which is shown this once.'),
      ...tokenSchema.omit({ expired: true }).shape,
    }),
  },
  'token.list': {
    input: z.object({}),
    output: z.object({ tokens: list(tokenSchema) }),
  },
  'token.revoke': {
    input: z.object({ id: z.string().min(1) }),
    output: z.object({ revoked: tokenSchema }),
  },
}
