/** The verb token revoke: a token opens nothing from now on. */
import { AppError } from '../model/errors.ts'
import type { Token } from '../model/token.ts'
import type { Ports } from '../ports/index.ts'
import { removeToken } from '../tokens/tokens.ts'

export async function revokeToken(ports: Ports, id: string): Promise<Token> {
  const removed = await removeToken(ports, id)
  if (removed) return removed
  throw new AppError('notFound', `There is no token ${JSON.stringify(id)}.`, {
    hint: 'offshoot token list shows the ids.',
  })
}
