/** `POST /api/<action>`: reads the request by its schema, calls the action, and answers what `--json` would print. */
import path from 'node:path'
import type { Action } from '../actions/action.ts'
import { type ActionName, actions } from '../actions/index.ts'
import { openDoor, previews } from '../api/call.ts'
import { requireScope } from '../api/caller.ts'
import type { Emit } from '../api/views.ts'
import { AppError } from '../core/model/errors.ts'
import type { Ports } from '../core/ports/index.ts'
import { findAction, parseRequest, type Request } from '../protocol/parse.ts'
import { failure, type HttpAnswer, success } from './answer.ts'
import type { HttpCall, Way } from './http.ts'
import type { Once } from './once.ts'
import { restOf } from './routes.ts'

export function openApi(ports: Ports, once: Once<HttpAnswer>, stop: AbortSignal): Way {
  return async (call) => {
    const request = requireRequest(restOf('api', call.allowed.path), call.body)
    const key = call.header('idempotency-key')
    if (key === undefined || !isKept(call, request)) return perform(ports, call, request, call.signal)
    return once.answer({
      scope: `${call.allowed.credential?.id} ${request.action}`,
      key,
      content: JSON.stringify(request.input),
      // Who sends a key comes back for the answer, so that only the stop of the daemon cancels it.
      work: () => perform(ports, call, request, stop),
    })
  }
}

type Read = Extract<Request, { ok: true }>

/**
 * Whether the answer is kept for a retry. Throws `policyRefused` without the scope: who may only look must not take the places
 * of answers that somebody else comes back for.
 */
function isKept({ allowed: { credential } }: HttpCall, { action: name, input }: Read): boolean {
  const action: Action = actions[name]
  const isPreview = previews(action, input)
  if (!credential || !action.writes || (isPreview && !action.previewWrites)) return false
  requireScope(credential.caller, action, isPreview, input)
  return credential.caller.kind !== 'agent' || action.forAgent !== undefined
}

/** Throws `notFound` for an unknown action, and `wrongUsage` that names the field. */
function requireRequest(name: string, body: unknown): Read {
  if (findAction(name) === undefined)
    throw new AppError('notFound', `There is no action ${JSON.stringify(name)}.`, {
      hint: 'GET /openapi.json lists the actions.',
    })
  const request = parseRequest(name, body)
  if (!request.ok) {
    const field = request.field === undefined ? '' : `, field ${request.field}`
    throw new AppError('wrongUsage', `${name}${field}: ${request.problem}`, {
      hint: 'GET /openapi.json says what each action takes.',
    })
  }
  requireAbsolute(request)
  return request
}

/** The daemon is in no folder of the client's, so that a relative path would mean another one than the client thinks. */
function requireAbsolute({ action, input }: Read): void {
  for (const field of ['repo', 'path', 'base'] as const) {
    const value = (input as Readonly<Record<string, unknown>>)[field]
    if (typeof value === 'string' && !path.isAbsolute(value))
      throw new AppError(
        'wrongUsage',
        `${action}, field ${field}: ${JSON.stringify(value)} is no absolute path.`,
        {
          hint: 'The daemon is in no folder of yours: begin the path with /',
        },
      )
  }
}

/** Nobody is told and nobody answers. Without somebody who hears, a command would write to the streams of the daemon. */
const hear: Emit = () => undefined

async function perform(
  ports: Ports,
  { allowed }: HttpCall,
  { action, input }: Read,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { credential } = allowed
  if (!credential) throw new AppError('policyRefused', 'Nobody asked.')
  try {
    const call = openDoor(ports, () => credential.caller)
    return success(await call(action as ActionName, input as never, signal, hear))
  } catch (thrown) {
    return failure(thrown)
  }
}
