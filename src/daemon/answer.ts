/** An answer to a request, and which status an outcome has. */
import { type AppError, appError, type ErrorKind } from '../core/model/errors.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** A stream is sent as it comes. */
  readonly body: string | Buffer | ReadableStream<Uint8Array>
}

/** The one place that says which failure is which status. */
const statuses: Readonly<Record<ErrorKind, number>> = {
  usage: 400,
  missing: 404,
  conflict: 409,
  refused: 422,
  environment: 500,
  failed: 500,
  cancelled: 500,
}

/** A token that lacks the scope of an action is forbidden; any other refusal is about the work. */
export function statusOf(error: AppError): number {
  const lacksScope = error.problem === 'policyRefused' && error.data !== undefined && 'scope' in error.data
  return lacksScope ? 403 : statuses[error.kind]
}

export function jsonAnswer(status: number, body: object): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** The same object that `--json` prints for it. */
export function failure(thrown: unknown): HttpAnswer {
  const error = appError(thrown)
  return jsonAnswer(statusOf(error), { ok: false, error: error.toJSON() })
}

export function success(output: object): HttpAnswer {
  return jsonAnswer(200, { ok: true, ...output })
}
