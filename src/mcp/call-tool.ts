/** One call of a tool: its input, the action, its answer. */
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { ActionName } from '../actions/index.ts'
import type { Call } from '../api/call.ts'
import { AppError } from '../core/model/errors.ts'
import { requireInput } from '../protocol/parse.ts'
import { type Input, schemas } from '../protocol/schemas/index.ts'
import { failure, success } from './answers.ts'
import { type Folder, placed } from './folder.ts'
import { progressTo } from './progress.ts'
import { findAction } from './tools.ts'

/** Every failure of an action is an answer that the model can read; only an unknown tool is an error of the protocol. */
export async function callTool(
  call: Call,
  folder: Folder,
  asked: { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> | undefined },
  context: ServerContext,
): Promise<CallToolResult> {
  const action = findAction(asked.name)
  if (action === undefined)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `There is no tool ${JSON.stringify(asked.name)}.`,
    )
  try {
    const input = await inputOf(action, asked.arguments ?? {}, folder)
    return success(await call(action, input, cancelledBy(context), progressTo(context)))
  } catch (thrown) {
    return failure(thrown)
  }
}

async function inputOf<A extends ActionName>(
  action: A,
  given: Readonly<Record<string, unknown>>,
  folder: Folder,
): Promise<Input<A>> {
  const input = 'repo' in schemas[action].input.shape ? placed(given, await folder()) : given
  return requireInput(action, input as Input<A>, 'tools/list says what each tool takes.')
}

/** Cancels as Ctrl-C does: when the client takes its request back, and when it leaves. */
export function cancelledBy({ mcpReq }: ServerContext): AbortSignal {
  const cancel = new AbortController()
  const abort = () => cancel.abort(new AppError('cancelled', 'Cancelled.'))
  if (mcpReq.signal.aborted) abort()
  mcpReq.signal.addEventListener('abort', abort, { once: true })
  return cancel.signal
}
