import { expect, test } from 'vitest'
import { hasSecret } from './secrets.ts'
import {
  idInToken,
  isExpired,
  isToken,
  isTokenOf,
  scopesUpTo,
  type Token,
  tokenHash,
  tokenText,
  tokenView,
} from './token.ts'

const secret = 'Ab_-'.repeat(11).slice(0, 43)
const text = tokenText('0123abcd', secret)

test('D3: a token has its id in it, and is known by its hash alone', () => {
  expect(idInToken(text)).toBe('0123abcd')
  expect(isTokenOf(text, tokenHash(text))).toBe(true)
  expect(isTokenOf(`${text.slice(0, -1)}x`, tokenHash(text))).toBe(false)
})

test.each(['', 'offshoot_', `offshoot_0123abcd_${secret}x`, `x${text}`, `${text}\n`, text.toUpperCase()])(
  'D3: no token: %j',
  (other) => {
    expect(idInToken(other)).toBeUndefined()
  },
)

test('D3: a token is a secret, which landing refuses and the log masks', () => {
  expect(hasSecret(`use ${text} here`)).toBe(true)
})

test('D3: a scope has those before it', () => {
  expect(scopesUpTo('look')).toEqual(['look'])
  expect(scopesUpTo('land')).toEqual(['look', 'run', 'land'])
})

test('D3: a token is over at its time, and its view says what it is for', () => {
  const token: Token = {
    id: '0123abcd',
    name: 'n',
    hash: tokenHash(text),
    rights: { kind: 'task', uid: 'u', task: 'T1' },
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-02T00:00:00.000Z',
  }
  expect(isExpired(token, new Date('2026-01-01T23:59:59.999Z'))).toBe(false)
  expect(isExpired(token, new Date(token.expiresAt))).toBe(true)
  const { hash: _, rights: __, ...rest } = token
  expect(tokenView(token, new Date(0))).toEqual({ ...rest, scope: 'task', task: 'T1', expired: false })
})

test('D3: a row that lacks something is no token, and a time that is none is over', () => {
  const row = {
    id: '0123abcd',
    name: 'n',
    hash: tokenHash(text),
    rights: { kind: 'scope', scope: 'land' },
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-02T00:00:00.000Z',
  }
  const { rights: _, ...noRights } = row
  expect(isToken(row)).toBe(true)
  expect(isToken({ ...row, rights: { kind: 'page' } })).toBe(true)
  expect(isToken({ ...row, rights: { kind: 'task', uid: 'u', task: 'T1' } })).toBe(true)
  const damaged: unknown[] = [
    null,
    'row',
    noRights,
    { ...row, id: 7 },
    { ...row, name: undefined },
    { ...row, hash: 'x' },
    { ...row, createdAt: 'then' },
    { ...row, expiresAt: 'never' },
    { ...row, expiresAt: undefined },
    { ...row, rights: null },
    { ...row, rights: { kind: 'all' } },
    { ...row, rights: { kind: 'scope', scope: 'everything' } },
    { ...row, rights: { kind: 'task', task: 'T1' } },
  ]
  for (const one of damaged) expect([one, isToken(one)]).toEqual([one, false])
  expect(isExpired({ expiresAt: 'never' }, new Date(0))).toBe(true)
})
