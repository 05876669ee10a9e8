/** `mcp`: serves MCP at stdin and stdout until the client leaves. */
import type { Caller } from '../../api/caller.ts'
import { type Scope, scopes } from '../../core/model/enums.ts'
import { scopesUpTo } from '../../core/model/token.ts'
import { openMcp } from '../../mcp/index.ts'
import { type Answer, choice, type Context, text } from '../command.ts'
import { readVersion } from '../version.ts'

/** Enough to start work and look at it; landing it stays with the user until they say otherwise. */
const usual: Scope = 'run'

export async function mcp(context: Context): Promise<Answer> {
  const { dir, values, signal } = context
  const scope = choice(values, 'scope', scopes) ?? usual
  const { call, caller } = await context.openServer((starter) => callerOf(starter, scope))
  const asksForRoot = text(values, 'directory') === undefined
  await openMcp({ call, caller, repo: dir, asksForRoot, version: readVersion() }).serveStdio(signal)
  return { json: {}, text: '' }
}

/** A client is not the user, and has no more rights than the scope. Below the run of an agent, the agent's rights count. */
function callerOf(starter: Caller, scope: Scope): Caller {
  if (starter.kind === 'agent') return starter
  return { kind: 'token', scopes: scopesUpTo(scope), widen: (needed) => `offshoot mcp --scope ${needed}` }
}
