/** Reads and changes the file with the hashes of all tokens (docs/adr/0061-tokens-and-the-page-key.md). */
import path from 'node:path'
import { quoted } from '../base/shell-quote.ts'
import { day } from '../base/time.ts'
import { AppError } from '../model/errors.ts'
import { tokensFile } from '../model/layout.ts'
import {
  isExpired,
  isToken,
  type Token,
  tokenHash,
  tokenId,
  type TokenRights,
  tokenText,
} from '../model/token.ts'
import type { Ports } from '../ports/index.ts'

type TokenPorts = Pick<Ports, 'home' | 'files' | 'durable' | 'locks' | 'clock' | 'ids'>

/** Every token that was made and not revoked, oldest first. A row that is no token is left out, and gone with the next change. */
export async function readTokens({ home, files }: Pick<Ports, 'home' | 'files'>): Promise<readonly Token[]> {
  const file = tokensFile(home)
  const text = await files.readText(file)
  if (text === undefined) return []
  try {
    const { tokens } = JSON.parse(text) as { tokens: readonly unknown[] }
    return tokens.filter(isToken)
  } catch (cause) {
    throw new AppError('stateUnusable', 'The file of tokens cannot be read.', {
      path: file,
      hint: `Make new tokens: rm ${quoted(file)} && offshoot token create --scope look`,
      cause,
    })
  }
}

/** Makes a token. Its text is answered here and kept nowhere. */
export async function addToken(
  ports: TokenPorts,
  { name, rights, days }: { readonly name: string; readonly rights: TokenRights; readonly days: number },
): Promise<{ readonly text: string; readonly token: Token }> {
  const text = tokenText(tokenId(ports.ids.uid()), ports.ids.secret())
  const created = ports.clock.now()
  const token: Token = {
    id: text.split('_')[1] ?? '',
    name,
    hash: tokenHash(text),
    rights,
    createdAt: created.toISOString(),
    expiresAt: new Date(created.getTime() + days * day).toISOString(),
  }
  await changeTokens(ports, 'token create', (tokens) => [...tokens, token])
  return { text, token }
}

/** Takes a token out, and answers it; undefined when there is none of that id. From then on nobody gets in with it, also after a power cut. */
export async function removeToken(ports: TokenPorts, id: string): Promise<Token | undefined> {
  let removed: Token | undefined
  await changeTokens(ports, 'token revoke', (tokens) => {
    removed = tokens.find((token) => token.id === id)
    return tokens.filter((token) => token !== removed)
  })
  return removed
}

/** A token that expired a month ago is dropped from the file. */
const keptDays = 30

async function changeTokens(
  ports: TokenPorts,
  verb: string,
  change: (tokens: readonly Token[]) => readonly Token[],
): Promise<void> {
  const file = tokensFile(ports.home)
  await ports.locks.hold('tokens', { verb }, async () => {
    const past = new Date(ports.clock.now().getTime() - keptDays * day)
    const tokens = change(await readTokens(ports)).filter((token) => !isExpired(token, past))
    await ports.durable.writeDurable(file, Buffer.from(`${JSON.stringify({ tokens }, null, 2)}\n`), 0o600)
    await ports.durable.sync([path.dirname(file)])
  })
}
