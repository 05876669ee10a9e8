/** Turns errors of actions into errors of JSON-RPC: editors show the message, so the hint is a part of it. */
import { RequestError } from '@agentclientprotocol/sdk'
import { appError, type ErrorKind } from '../core/model/errors.ts'

/** https://agentclientprotocol.com/protocol/v1/schema#errorcode */
const codes: Readonly<Partial<Record<ErrorKind, number>>> = {
  usage: -32602,
  missing: -32002,
  cancelled: -32800,
}
const internal = -32603

export function asRequestError(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown
  const error = appError(thrown)
  return new RequestError(codes[error.kind] ?? internal, `${error.message} ${error.hint}`, error.toJSON())
}
