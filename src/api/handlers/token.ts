/** Handlers of the actions on tokens. */
import type { token as table } from '../../actions/token.ts'
import { tokenView } from '../../core/model/token.ts'
import type { Handlers } from './handler.ts'

export const token: Handlers<keyof typeof table> = {
  async 'token.create'(ports, { repo, ...input }) {
    const { createToken } = await import('../../core/verbs/token-create.ts')
    const { text, token: made } = await createToken(ports, { dir: repo, ...input })
    const { expired: _, ...view } = tokenView(made, ports.clock.now())
    return { token: text, ...view }
  },
  async 'token.list'(ports) {
    const { listTokens } = await import('../../core/verbs/token-list.ts')
    const now = ports.clock.now()
    return { tokens: (await listTokens(ports)).map((one) => tokenView(one, now)) }
  },
  async 'token.revoke'(ports, { id }) {
    const { revokeToken } = await import('../../core/verbs/token-revoke.ts')
    return { revoked: tokenView(await revokeToken(ports, id), ports.clock.now()) }
  },
}
