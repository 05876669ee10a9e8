/** What the daemon needs of tokens beside the actions: those that open it, and the key of a page. */
import type { Token } from '../core/model/token.ts'
import type { Ports } from '../core/ports/index.ts'
import { addToken, readTokens } from '../core/tokens/tokens.ts'

/** Every token that was made and not revoked; some have expired. */
export function readKeys(ports: Ports): Promise<readonly Token[]> {
  return readTokens(ports)
}

/** How long a browser stays let in. */
const pageDays = 30

/** A key for the page, which a one-time code was exchanged for. */
export async function makePageKey(ports: Ports): Promise<string> {
  const { text } = await addToken(ports, { name: 'page', rights: { kind: 'page' }, days: pageDays })
  return text
}
