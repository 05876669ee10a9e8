/** `acp`: serves the Agent Client Protocol at stdin and stdout until the editor leaves. */
import { serveAcp } from '../../acp/index.ts'
import type { Caller } from '../../api/caller.ts'
import { policyLevels } from '../../core/model/enums.ts'
import { scopesUpTo } from '../../core/model/token.ts'
import { type Answer, choice, type Context, text } from '../command.ts'
import { readVersion } from '../version.ts'

export async function acp({ values, signal, openServer }: Context): Promise<Answer> {
  const { call } = await openServer(callerOf)
  const options = {
    call,
    agent: text(values, 'agent'),
    policy: choice(values, 'policy', policyLevels),
    version: readVersion(),
  }
  await serveAcp(options, process.stdin, process.stdout, signal)
  return { json: {}, text: '' }
}

/** The door lands nothing; `land` is what it needs to take away the task of a session that was never used. Below the run of an agent, the agent's rights count. */
function callerOf(starter: Caller): Caller {
  return starter.kind === 'agent' ? starter : { kind: 'token', scopes: scopesUpTo('land') }
}
