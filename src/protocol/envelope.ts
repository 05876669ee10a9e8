/** The messages of the WebSocket door: requests and what answers them, and what is pushed (docs/daemon.md). Browser-safe. */
import { z } from 'zod'
import { AppError } from '../core/model/errors.ts'
import { taskEventSchema, toldSchema } from './events.ts'
import { errorSchema, keptEventSchema, list, taskSchema } from './schemas/common.ts'
import { forecastChangeSchema } from './schemas/forecast.ts'
import { repoSchema } from './schemas/system.ts'

/** The subprotocol that a browser asks for, beside the one that carries its key. */
export const subprotocol = 'offshoot.v1'

/** An id is the key under which an action that writes is done once, as `Idempotency-Key` is over HTTP. */
const id = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'An id has 1 to 128 characters of ASCII, without spaces.')

const requestSchema = z.strictObject({
  id,
  type: z.literal('request'),
  action: z.string().min(1).max(64),
  payload: z.record(z.string(), z.unknown()).default({}),
})

/** Cancels the request of that id, as Ctrl-C cancels a command. */
const cancelSchema = z.strictObject({ id, type: z.literal('cancel') })

const incomingSchema = z.discriminatedUnion('type', [requestSchema, cancelSchema])
export type Incoming = z.infer<typeof incomingSchema>

/** What a client can ask of its connection, besides the actions of the table. */
export const connectionSchemas = {
  subscribe: z.strictObject({
    since: z
      .number()
      .int()
      .nonnegative()
      .optional()
      .describe('The `seq` of the last event that you have; left out, a snapshot comes first.'),
    log: z
      .string()
      .optional()
      .describe('The `log` that `since` is of: if that is not the log any more, a snapshot comes first.'),
    repos: list(z.string().min(1))
      .optional()
      .describe('Only these repositories: absolute paths, or ids that system.repos lists.'),
    tasks: list(z.string().min(1)).optional().describe('Only these tasks: ids or uids.'),
    output: z.boolean().optional().describe('Also push what agents at work say and do (task.output).'),
    forecast: z
      .boolean()
      .optional()
      .describe('Also push which tasks conflict, at first all of it, then what changes (forecast.changed).'),
  }),
  unsubscribe: z.strictObject({}),
  ping: z.strictObject({}),
}
export type ConnectionAction = keyof typeof connectionSchemas
export type SubscribeInput = z.infer<typeof connectionSchemas.subscribe>

/** The tasks as of an entry of the log. */
const snapshotSchema = z.object({
  seq: z.number().int(),
  log: z.string().describe('The id of the log, for `subscribe`.'),
  why: z.enum(['new', 'too old', 'behind', 'other log']),
  repos: list(repoSchema),
  tasks: list(taskSchema).describe('The open tasks, newest first.'),
})

const chained = {
  seq: z.number().int(),
  prev: z.number().int().describe('The seq before, as this client was sent it: if you have less, ask again.'),
}

const pushed = <N extends string, S extends z.ZodType>(action: N, payload: S) =>
  z.object({ type: z.literal('notification'), action: z.literal(action), payload })

const notificationSchema = z.discriminatedUnion('action', [
  pushed('snapshot', snapshotSchema),
  pushed('reset', snapshotSchema),
  pushed(
    'task.event',
    z.object({
      ...chained,
      at: z.iso.datetime(),
      task: z.string(),
      uid: z.string(),
      repo: z.string(),
      event: taskEventSchema,
    }),
  ),
  pushed(
    'task.output',
    z.union([
      z.object({
        request: z.string().describe('The id of your request that tells this.'),
        events: list(toldSchema),
        dropped: z
          .number()
          .int()
          .optional()
          .describe('So many events were dropped before, as you read too slowly.'),
      }),
      z.object({
        run: z.string(),
        task: z.string(),
        uid: z.string(),
        repo: z.string(),
        from: z.number().int(),
        to: z
          .number()
          .int()
          .describe(
            'Bytes of its transcript. If `from` is not the last `to`, you missed something: task.log has it.',
          ),
        events: list(keptEventSchema),
      }),
    ]),
  ),
  pushed('forecast.changed', forecastChangeSchema),
  // Told to subscribers when it changes, and at the subscription while the disk is full.
  pushed(
    'disk',
    z.object({
      at: z.iso.datetime(),
      full: z.boolean().describe('Fuller than disk.warnPercent; false: it has space again.'),
      usedPercent: z.number().int(),
      warnPercent: z.number().int(),
    }),
  ),
  // Without a subscription it has the time alone.
  pushed('heartbeat', z.object({ at: z.iso.datetime(), ...z.object(chained).partial().shape })),
])
export type Notification = z.infer<typeof notificationSchema>

export const outgoingSchema = z.union([
  z.object({
    id,
    type: z.literal('response'),
    action: z.string(),
    payload: z.looseObject({ ok: z.literal(true) }),
  }),
  z.object({
    id: z.string().nullable().describe('Null when the message had none that could be read.'),
    type: z.literal('error'),
    action: z.string().nullable(),
    error: errorSchema.loose(),
  }),
  notificationSchema,
])
export type Outgoing = z.infer<typeof outgoingSchema>

export type ReadMessage =
  | { readonly ok: true; readonly message: Incoming }
  /** With the id and the action as far as they can be read, so that the client finds its request. */
  | {
      readonly ok: false
      readonly id: string | null
      readonly action: string | null
      readonly error: AppError
    }

/** Reads one message of a client. */
export function readMessage(text: string): ReadMessage {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { ok: false, id: null, action: null, error: wrong('The message is no JSON.') }
  }
  const parsed = incomingSchema.safeParse(value)
  if (parsed.success) return { ok: true, message: parsed.data }
  const [issue] = parsed.error.issues
  const field = issue?.path.join('.')
  const problem = `${field ? `Field ${field}: ` : ''}${issue?.message ?? 'Invalid message.'}`
  const known = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  return {
    ok: false,
    id: id.safeParse(known.id).data ?? null,
    action: typeof known.action === 'string' ? known.action.slice(0, 64) : null,
    error: wrong(problem),
  }
}

function wrong(message: string): AppError {
  return new AppError('wrongUsage', message, {
    hint: 'Send {"id", "type": "request", "action", "payload"}, or {"id", "type": "cancel"}.',
  })
}

/** The payload of an action on the connection. Throws `wrongUsage` that names the field. */
export function requirePayload<A extends ConnectionAction>(
  action: A,
  payload: unknown,
): z.infer<(typeof connectionSchemas)[A]> {
  const parsed = connectionSchemas[action].safeParse(payload)
  if (parsed.success) return parsed.data as z.infer<(typeof connectionSchemas)[A]>
  const [issue] = parsed.error.issues
  const field = issue?.path.join('.')
  throw new AppError('wrongUsage', `${action}${field ? `, field ${field}` : ''}: ${issue?.message ?? ''}`, {
    hint: 'docs/daemon.md says what it takes.',
  })
}
