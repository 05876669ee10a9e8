/** Calls an action for whichever door of the daemon: reads the request by its schema, and does what writes once for each key. */
import path from 'node:path'
import type { Action } from '../actions/action.ts'
import { type ActionName, actions } from '../actions/index.ts'
import { openDoor, previews } from '../api/call.ts'
import { requireScope } from '../api/caller.ts'
import { findNamed } from '../api/meant.ts'
import type { Emit } from '../api/views.ts'
import { AppError, appError } from '../core/model/errors.ts'
import type { Ports } from '../core/ports/index.ts'
import { findAction, parseRequest } from '../protocol/parse.ts'
import { isSecondName, parseSecond, secondAnswer, type SecondName } from '../protocol/second-names.ts'
import type { Credential } from './guard.ts'
import type { Once } from './once.ts'

export type Outcome =
  | { readonly ok: true; readonly output: object }
  | { readonly ok: false; readonly error: AppError }

/** A request, as a door has read it. */
interface Ask {
  readonly credential: Credential
  /** The name of an action, or a second name. */
  readonly name: string
  readonly body: unknown
  /** An action that writes is done once for each key. */
  readonly key?: string | undefined
  /** The client has left. With a key, it has some time to come back for the answer. */
  readonly leaves?: AbortSignal | undefined
  /** With a key, it comes back whenever it likes. */
  readonly comesBack?: boolean | undefined
  /** The client has changed its mind. */
  readonly cancels?: AbortSignal | undefined
  readonly emit?: Emit | undefined
}

export type Perform = (ask: Ask) => Promise<Outcome>

/** Never throws. When `stop` aborts, everything is cancelled. */
export function openPerform(ports: Ports, once: Once<Outcome>, stop: AbortSignal): Perform {
  return async (ask) => {
    const { credential, key, leaves, comesBack, cancels, name } = ask
    const anyOf = (...signals: (AbortSignal | undefined)[]) =>
      AbortSignal.any([stop, ...signals.filter((signal) => signal !== undefined)])
    try {
      const request = await readRequest(ports, ask)
      if (key === undefined || !isKept(credential, request))
        return await call(ports, ask, request, anyOf(leaves, cancels))
      return await once.answer({
        scope: `${credential.id} ${name}`,
        key,
        content: JSON.stringify(request.input),
        leaves: comesBack ? undefined : leaves,
        cancels,
        work: (signal) => call(ports, ask, request, anyOf(signal)),
      })
    } catch (thrown) {
      return { ok: false, error: appError(thrown) }
    }
  }
}

/**
 * Whether the answer is kept for a retry. Throws `policyRefused` without the scope: who may only look must not take the places
 * of answers that somebody else comes back for.
 */
function isKept({ caller }: Credential, { action: name, input }: Read): boolean {
  const action: Action = actions[name]
  const isPreview = previews(action, input)
  if (!action.writes || (isPreview && !action.previewWrites)) return false
  requireScope(caller, action, isPreview, input)
  return caller.kind !== 'agent' || action.forAgent !== undefined
}

/** The name of an action as metrics count it: one of a list, whatever the client has sent. */
export function knownName(name: string): string {
  return findAction(name) ?? (isSecondName(name, undefined, false) ? name : 'none')
}

interface Read {
  readonly action: ActionName
  readonly input: Readonly<Record<string, unknown>>
  /** It was asked for under a second name, and is answered in the words of that. */
  readonly isSecond?: boolean
}

/** Throws `notFound` for an unknown action, and `wrongUsage` that names the field. */
async function readRequest(ports: Ports, { credential, name, body }: Ask): Promise<Read> {
  const action = findAction(name)
  if (isSecondName(name, body, action !== undefined)) return readSecond(ports, credential, name, body)
  if (action === undefined)
    throw new AppError('notFound', `There is no action ${JSON.stringify(name)}.`, {
      hint: 'GET /openapi.json lists the actions.',
    })
  return parsed(name, name, body)
}

async function readSecond(
  ports: Ports,
  { caller }: Credential,
  name: SecondName,
  body: unknown,
): Promise<Read> {
  const second = parseSecond(name, body)
  if (!second.ok) throw wrongField(name, second, 'docs/daemon.md lists the fields of this name.')
  if (second.meant.folder !== undefined) requireAbsolute(name, 'repository_path', second.meant.folder)
  requireScope(caller, actions[second.action])
  const named = await findNamed(ports, second.meant)
  return { ...parsed(name, second.action, { ...second.input, ...named }), isSecond: true }
}

function parsed(name: string, action: string, body: unknown): Read {
  const request = parseRequest(action, body)
  if (!request.ok) throw wrongField(name, request, 'GET /openapi.json says what each action takes.')
  const input = request.input as Read['input']
  for (const field of ['repo', 'path', 'base']) requireAbsolute(name, field, input[field])
  return { action: request.action, input }
}

function wrongField(
  name: string,
  { field, problem }: { field?: string; problem: string },
  hint: string,
): AppError {
  const where = field === undefined ? '' : `, field ${field}`
  return new AppError('wrongUsage', `${name}${where}: ${problem}`, { hint })
}

/** The daemon is in no folder of the client's, so that a relative path would mean another one than the client thinks. */
function requireAbsolute(name: string, field: string, value: unknown): void {
  if (typeof value !== 'string' || path.isAbsolute(value)) return
  throw new AppError('wrongUsage', `${name}, field ${field}: ${JSON.stringify(value)} is no absolute path.`, {
    hint: 'The daemon is in no folder of yours: begin the path with /',
  })
}

async function call(
  ports: Ports,
  { credential, emit = () => undefined }: Ask,
  { action, input, isSecond }: Read,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    const door = openDoor(ports, () => credential.caller)
    const output = await door(action, input as never, signal, emit)
    return { ok: true, output: isSecond ? secondAnswer(output) : output }
  } catch (thrown) {
    return { ok: false, error: appError(thrown) }
  }
}
