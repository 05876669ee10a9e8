/** The errors of SQLite, as the store reports them. */
import { AppError } from '../core/model/errors.ts'

/** Result codes of SQLite: https://sqlite.org/rescode.html */
const code = {
  perm: 3,
  busy: 5,
  locked: 6,
  readonly: 8,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantopen: 14,
  protocol: 15,
  constraintUnique: 2067,
  notadb: 26,
} as const

/** The extended result code; undefined when the error is not SQLite's. */
function resultCode(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown)) return undefined
  return typeof thrown.errcode === 'number' ? thrown.errcode : undefined
}

/** The low byte is the kind of error; the other bits refine it. */
const primary = (extended: number | undefined) => (extended ?? 0) & 0xff

export const isBusy = (thrown: unknown) => primary(resultCode(thrown)) === code.busy

export const isTaken = (thrown: unknown) => resultCode(thrown) === code.constraintUnique

/** Translates an error of SQLite; any other error stays as it is. */
export function storeError(thrown: unknown, path: string): unknown {
  const detail = { path, cause: thrown }
  switch (primary(resultCode(thrown))) {
    case code.busy:
    case code.locked:
    case code.protocol:
      return new AppError('locked', `Another process keeps the records busy: ${path}.`, detail)
    case code.full:
      return new AppError('diskFull', `The disk is full: ${path} cannot grow.`, detail)
    case code.corrupt:
    case code.notadb:
      return damagedError(`${path} is not a sound database`, detail)
    case code.perm:
    case code.readonly:
    case code.ioerr:
    case code.cantopen:
      return new AppError('stateUnusable', `The records cannot be read or written: ${path}.`, detail)
    default:
      return thrown
  }
}

export function damagedError(what: string, detail: { path?: string; cause: unknown }): AppError {
  return new AppError('stateUnusable', `The records are damaged: ${what}.`, {
    ...detail,
    hint: 'offshoot repair --rebuild sets it aside and brings the records back from the vaults.',
    data: { damaged: true },
  })
}
