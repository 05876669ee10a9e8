/** A token: what it looks like, what is kept of it, and what it may do (docs/adr/0061-tokens-and-the-page-key.md). */
import { createHash, timingSafeEqual } from 'node:crypto'
import { type Scope, scopes } from './enums.ts'

/** What a token is for: a program with a scope, the agent of one task, or the page in a browser. */
export type TokenRights =
  | { readonly kind: 'scope'; readonly scope: Scope }
  /** By uid, since ids recur. */
  | { readonly kind: 'task'; readonly uid: string; readonly task: string }
  | { readonly kind: 'page' }

/** What the state folder keeps of a token: never the token itself. */
export interface Token {
  readonly id: string
  readonly name: string
  /** SHA-256 of the whole token, in hex. */
  readonly hash: string
  readonly rights: TokenRights
  readonly createdAt: string
  readonly expiresAt: string
}

/** Whether a row of the file of tokens is one. A damaged row must neither open anything nor keep the others out. */
export function isToken(row: unknown): row is Token {
  if (!isObject(row)) return false
  const { id, name, hash, rights, createdAt, expiresAt } = row
  return (
    matches(id, /^[0-9a-z]{8}$/) &&
    typeof name === 'string' &&
    matches(hash, /^[0-9a-f]{64}$/) &&
    isTime(createdAt) &&
    isTime(expiresAt) &&
    isRights(rights)
  )
}

function isRights(rights: unknown): rights is TokenRights {
  if (!isObject(rights)) return false
  const { kind, scope, uid, task } = rights
  if (kind === 'scope') return (scopes as readonly unknown[]).includes(scope)
  return kind === 'page' || (kind === 'task' && typeof uid === 'string' && typeof task === 'string')
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
const matches = (value: unknown, pattern: RegExp) => typeof value === 'string' && pattern.test(value)
const isTime = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value))

const idLength = 8

/** The first letters of an id that nobody else has. */
export function tokenId(uid: string): string {
  return uid.slice(0, idLength)
}

/** `offshoot_1f0k2m3n_…`: secret scanners know it by its beginning, and the guard finds its record by the id. */
export function tokenText(id: string, secret: string): string {
  return `offshoot_${id}_${secret}`
}

const form = /^offshoot_([0-9a-z]{8})_[\w-]{43}$/

/** The id in a token; undefined when the text is no token. */
export function idInToken(text: string): string | undefined {
  return form.exec(text)?.[1]
}

export function tokenHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Compares without telling by its duration how much was right. */
export function isTokenOf(text: string, hash: string): boolean {
  return timingSafeEqual(Buffer.from(tokenHash(text), 'hex'), Buffer.from(hash, 'hex'))
}

export function isExpired({ expiresAt }: Pick<Token, 'expiresAt'>, now: Date): boolean {
  // A time that is none is over.
  return !(Date.parse(expiresAt) > now.getTime())
}

/** A scope with those before it. */
export function scopesUpTo(scope: Scope): readonly Scope[] {
  return scopes.slice(0, scopes.indexOf(scope) + 1)
}

/** A token as `token list` shows it. */
export interface TokenView {
  readonly id: string
  readonly name: string
  readonly scope: Scope | 'task' | 'page'
  /** The id of the task that it is for. */
  readonly task?: string
  readonly createdAt: string
  readonly expiresAt: string
  readonly expired: boolean
}

export function tokenView(token: Token, now: Date): TokenView {
  const { id, name, rights, createdAt, expiresAt } = token
  const scope = rights.kind === 'scope' ? rights.scope : rights.kind
  const task = rights.kind === 'task' ? { task: rights.task } : {}
  return { id, name, scope, ...task, createdAt, expiresAt, expired: isExpired(token, now) }
}
