/** Turns the token of daemon.json and the kept tokens into what the guard compares with. */
import type { Caller } from '../api/caller.ts'
import { scopes } from '../core/model/enums.ts'
import { isExpired, scopesUpTo, type Token, tokenHash, tokenId, tokenText } from '../core/model/token.ts'
import type { Ids } from '../core/ports/ids.ts'
import type { Credential, Known } from './guard.ts'

/** The token that daemon.json holds while the daemon runs. Each start makes a new one. */
export interface OwnToken {
  readonly text: string
  readonly credential: Credential
}

export function makeOwnToken(ids: Ids): OwnToken {
  const id = tokenId(ids.uid())
  const text = tokenText(id, ids.secret())
  const caller: Caller = { kind: 'token', scopes }
  const never = new Date(8.64e15).toISOString()
  return { text, credential: { id, hash: tokenHash(text), expiresAt: never, kind: 'owner', caller } }
}

export function credentialOf({ id, hash, expiresAt, rights }: Token): Credential {
  const kind = rights.kind === 'page' ? 'page' : 'token'
  return { id, hash, expiresAt, kind, caller: callerOf(rights) }
}

function callerOf(rights: Token['rights']): Caller {
  switch (rights.kind) {
    case 'scope':
      return { kind: 'token', scopes: scopesUpTo(rights.scope) }
    case 'task':
      return { kind: 'agent', task: rights.uid }
    // A person looks at it, who got the key by a code of their own daemon.
    case 'page':
      return { kind: 'user' }
  }
}

/** How long an answer counts where a moment does not matter. */
const latelyMs = 250

/** Whether a credential that has opened a connection still opens one: it may have been revoked, or have ended. */
export function openValidity(readKnown: () => Promise<Omit<Known, 'limited'>>, now: () => number) {
  let lately: { readonly at: number; readonly known: ReturnType<typeof readKnown> } | undefined
  return async ({ id, hash }: Credential, when: 'now' | 'lately'): Promise<boolean> => {
    if (when === 'now' || !lately || now() - lately.at > latelyMs) lately = { at: now(), known: readKnown() }
    const { credentials, now: time } = await lately.known
    return credentials.some((one) => one.id === id && one.hash === hash && !isExpired(one, time))
  }
}
