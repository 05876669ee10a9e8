/** The verb token list: the tokens that were made and not revoked. */
import type { Token } from '../model/token.ts'
import type { Ports } from '../ports/index.ts'
import { readTokens } from '../tokens/tokens.ts'

export function listTokens(ports: Ports): Promise<readonly Token[]> {
  return readTokens(ports)
}
