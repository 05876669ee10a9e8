/** Describes the HTTP door as an OpenAPI document, made from the table of actions and their schemas. */
import { z } from 'zod'
import { type ActionName, actions } from '../actions/index.ts'
import { errorSchema } from './schemas/common.ts'
import { schemas } from './schemas/index.ts'

const json = (schema: object) => ({ content: { 'application/json': { schema } } })

/** Zod names the dialect in each schema; in OpenAPI 3.1 the document does so for all. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

const failures = {
  400: 'The request is not as the schema says.',
  401: 'No valid token.',
  403: 'The token lacks the scope, or the request comes from another origin.',
  404: 'No such task, path, branch or action.',
  409: 'A conflict; nothing was written.',
  413: 'The body is larger than 1 MiB.',
  422: 'Refused: uncommitted changes, a limit, the policy, or another process at work.',
  429: 'Too many wrong tokens.',
  500: 'It failed, was cancelled, or git or the machine does not allow it.',
}

/** Statuses of the guard have no body. */
const bare = new Set(['401', '413', '429'])

function answersOf(output: z.ZodObject): object {
  const failed = Object.entries(failures).map(([status, description]) => [
    status,
    { description, ...(!bare.has(status) && json({ $ref: '#/components/schemas/Failure' })) },
  ])
  const done = z.object({ ok: z.literal(true) }).extend(output.shape)
  return { 200: { description: 'Done.', ...json(jsonSchema(done, 'output')) }, ...Object.fromEntries(failed) }
}

function operationOf(name: ActionName): object {
  const { summary, scope, group, writes } = actions[name]
  const { input, output } = schemas[name]
  return {
    operationId: name,
    summary,
    description: `Needs a token with the scope ${scope}.`,
    tags: [group],
    'x-scope': scope,
    security: [{ token: [] }, { page: [] }],
    ...(writes && { parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }] }),
    requestBody: { required: true, ...json(jsonSchema((input as z.ZodObject).strict(), 'input')) },
    responses: answersOf(output),
  }
}

/** The whole document. */
export function openApi(version: string): object {
  const names = Object.keys(actions) as ActionName[]
  const failure = z.object({ ok: z.literal(false), error: errorSchema })
  return {
    openapi: '3.1.1',
    info: {
      title: 'offshoot',
      version,
      summary: 'Undo for coding agents.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths: Object.fromEntries(names.map((name) => [`/api/${name}`, { post: operationOf(name) }])),
    components: {
      schemas: { Failure: jsonSchema(failure, 'output') },
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'A retry with the same key within ten minutes gets the first answer.',
          schema: { type: 'string', minLength: 1, maxLength: 128 },
        },
      },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        page: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'Offshoot, a space, the key.',
        },
      },
    },
  }
}
