/** Checks the input of a verb of the library by its schema before anything runs, as every door does. */
import type { ActionName } from '../actions/index.ts'
import type { Call } from '../api/call.ts'
import type { Input, Output } from '../protocol/schemas/index.ts'
import type { CallOptions } from './types.ts'

/** Runs one action; JavaScript may hand in anything, whatever the types say. */
export type CheckedCall = <A extends ActionName>(
  action: A,
  input: Input<A>,
  options?: CallOptions,
) => Promise<Output<A>>

/** The schemas are loaded with the first call, so that opening a repository costs nothing. */
export function checked(call: Call): CheckedCall {
  return async (action, input, { signal, onEvent } = {}) => {
    const { requireInput } = await import('../protocol/parse.ts')
    return call(action, requireInput(action, input), signal, onEvent)
  }
}
