import { describe, expect, test } from 'vitest'
import { tokenHash, tokenText } from '../core/model/token.ts'
import { type Credential, type Entrance, guard, type Known, type RequestFacts } from './guard.ts'

const port: Entrance = {
  host: '127.0.0.1:6337',
  origin: 'http://127.0.0.1:6337',
  address: 'http://127.0.0.1:6337',
}
const socket: Entrance = { host: 'localhost', address: '/state/daemon.sock' }
const abroad: Entrance = {
  host: 'tower.lan',
  origin: 'https://tower.lan',
  isPublic: true,
  address: 'https://tower.lan',
}

const text = (id: string) => tokenText(id, id.repeat(6).slice(0, 43))
const credential = (
  id: string,
  kind: Credential['kind'],
  expiresAt = '2027-01-01T00:00:00.000Z',
): Credential => ({
  id,
  kind,
  hash: tokenHash(text(id)),
  expiresAt,
  caller: kind === 'page' ? { kind: 'user' } : { kind: 'token', scopes: ['look'] },
})
const [owner, token, old, key] = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc', 'dddddddd'] as const
const known: Known = {
  credentials: [
    credential(owner, 'owner'),
    credential(token, 'token'),
    credential(old, 'token', '2026-01-01T00:00:00.000Z'),
    credential(key, 'page'),
  ],
  limited: new Set(),
  now: new Date('2026-11-18T00:00:00.000Z'),
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>
interface Asked extends Partial<Omit<RequestFacts, 'headers'>> {
  readonly headers?: Headers
  readonly at?: Entrance
  readonly knows?: Partial<Known>
}

const bearer = (id: string) => ({ authorization: `Bearer ${text(id)}` })
const json = { 'content-type': 'application/json', 'content-length': '2' }
/** What a program sends that is let in. */
const program: Headers = { host: port.host, ...json, ...bearer(token) }
/** What our own page sends in a browser. */
const page: Headers = {
  host: port.host,
  ...json,
  origin: port.origin,
  'sec-fetch-site': 'same-origin',
  authorization: `Offshoot ${text(key)}`,
}

function ask({ headers = program, at = port, knows = {}, ...rest }: Asked = {}) {
  const list = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  )
  const facts = { method: 'POST', target: '/api/task.list', upgrades: false, headers: list, ...rest }
  return guard(facts, at, { ...known, ...knows })
}

const statusOf = (asked: Asked) => {
  const verdict = ask(asked)
  return verdict.ok ? 200 : verdict.status
}

const overSocket: Headers = { host: 'localhost', ...json, ...bearer(owner) }
const upgrade = { method: 'GET', target: '/ws', upgrades: true } as const
const withoutBody = { 'content-type': undefined, 'content-length': undefined }

describe('D2: the guard lets in', () => {
  test.each<[string, Asked]>([
    ['a program with a token', {}],
    ['a program with the token of daemon.json', { headers: { ...program, ...bearer(owner) } }],
    ['our page with its key', { headers: page }],
    ['a program that runs in our page, with a token', { headers: { ...page, ...bearer(token) } }],
    ['a program on the socket', { at: socket, headers: overSocket }],
    [
      'a token from elsewhere, where the user opened the address to others',
      { at: abroad, headers: { ...program, host: 'tower.lan' } },
    ],
    ['anybody who asks for health', { method: 'GET', target: '/healthz', headers: { host: port.host } }],
    [
      'a browser that opens the page',
      { method: 'GET', target: '/', headers: { host: port.host, 'sec-fetch-site': 'none' } },
    ],
    ['anybody who asks for a proof', { target: '/prove', headers: { host: port.host, ...json } }],
    [
      'our page that exchanges a code',
      { target: '/page/key', headers: { ...page, authorization: undefined } },
    ],
    ['a WebSocket of a program', { ...upgrade, headers: { ...program, ...withoutBody } }],
    [
      'a WebSocket of our page, with its key as a subprotocol',
      {
        ...upgrade,
        headers: {
          host: port.host,
          origin: port.origin,
          'sec-websocket-protocol': `offshoot.v1, key.${text(key)}`,
        },
      },
    ],
    ['the owner who stops it', { target: '/stop', at: socket, headers: overSocket }],
  ])('%s', (_, asked) => {
    expect(ask(asked)).toMatchObject({ ok: true })
  })

  test('and says who calls', () => {
    expect(ask()).toMatchObject({ credential: { id: token, caller: { kind: 'token', scopes: ['look'] } } })
    expect(ask({ headers: page })).toMatchObject({ credential: { id: key, caller: { kind: 'user' } } })
    expect(ask({ method: 'GET', target: '/healthz', headers: { host: port.host } })).not.toHaveProperty(
      'credential',
    )
  })
})

/** Each row is an attack, with what it is answered. */
const attacks: [string, number, Asked][] = [
  ['a foreign Host, as after DNS rebinding', 403, { headers: { ...program, host: 'evil.example:6337' } }],
  [
    'a foreign Host with an Origin that fits it',
    403,
    { headers: { ...page, host: 'evil.example:6337', origin: 'http://evil.example:6337' } },
  ],
  ['localhost instead of the address', 403, { headers: { ...program, host: 'localhost:6337' } }],
  ['the Host without the port', 403, { headers: { ...program, host: '127.0.0.1' } }],
  ['no Host', 403, { headers: { ...program, host: undefined } }],
  ['two Hosts, ours first', 403, { headers: { ...program, host: [port.host, 'evil.example'] } }],
  ['two Hosts, ours last', 403, { headers: { ...program, host: ['evil.example', port.host] } }],
  ['two Origins', 403, { headers: { ...page, origin: [port.origin ?? '', 'http://evil.example'] } }],
  [
    'two tokens',
    403,
    { headers: { ...program, authorization: [`Bearer ${text(token)}`, `Bearer ${text(owner)}`] } },
  ],
  ['a foreign Origin with a token', 403, { headers: { ...program, origin: 'https://evil.example' } }],
  [
    'the Origin of another port, as of a server that an agent started',
    403,
    { headers: { ...page, origin: 'http://127.0.0.1:6338' } },
  ],
  ['the Origin localhost', 403, { headers: { ...page, origin: 'http://localhost:6337' } }],
  ['the Origin with another scheme', 403, { headers: { ...page, origin: 'https://127.0.0.1:6337' } }],
  ['the Origin null of a sandboxed frame', 403, { headers: { ...page, origin: 'null' } }],
  ['no Origin with the key of the page', 403, { headers: { ...page, origin: undefined } }],
  ['no Origin and no token', 401, { headers: { ...program, authorization: undefined } }],
  ['Sec-Fetch-Site: cross-site', 403, { headers: { ...page, 'sec-fetch-site': 'cross-site' } }],
  [
    'Sec-Fetch-Site: same-site, which is another port',
    403,
    { headers: { ...page, 'sec-fetch-site': 'same-site' } },
  ],
  [
    'a text/plain body, which any page can send',
    403,
    { headers: { ...program, 'content-type': 'text/plain' } },
  ],
  ['a form', 403, { headers: { ...program, 'content-type': 'application/x-www-form-urlencoded' } }],
  ['a multipart form', 403, { headers: { ...program, 'content-type': 'multipart/form-data; boundary=x' } }],
  [
    'JSON with a parameter',
    403,
    { headers: { ...program, 'content-type': 'application/json; x=text/plain' } },
  ],
  ['no content type', 403, { headers: { ...program, 'content-type': undefined } }],
  ['a compressed body', 403, { headers: { ...program, 'content-encoding': 'gzip' } }],
  ['a body above the limit', 413, { headers: { ...program, 'content-length': String(1024 * 1024 + 1) } }],
  [
    'a large body before anybody is known',
    413,
    { target: '/prove', headers: { ...program, 'content-length': '5000' } },
  ],
  ['a GET with a body', 403, { method: 'GET', target: '/metrics', headers: program }],
  ['a wrong token', 401, { headers: { ...program, ...bearer('eeeeeeee') } }],
  [
    'the id of a token with another secret',
    401,
    { headers: { ...program, authorization: `Bearer ${tokenText(token, 'x'.repeat(43))}` } },
  ],
  ['a revoked token', 401, { knows: { credentials: known.credentials.filter(({ id }) => id !== token) } }],
  ['an expired token', 401, { headers: { ...program, ...bearer(old) } }],
  ['an empty token', 401, { headers: { ...program, authorization: 'Bearer ' } }],
  ['a token in two parts', 401, { headers: { ...program, authorization: `Bearer ${text(token)} x` } }],
  ['a password', 401, { headers: { ...program, authorization: `Basic ${text(token)}` } }],
  [
    'a cookie alone',
    401,
    { headers: { ...page, authorization: undefined, cookie: `key=${text(key)}; token=${text(token)}` } },
  ],
  [
    'a token in the target alone',
    401,
    { target: `/api/task.list?token=${text(token)}`, headers: { ...program, authorization: undefined } },
  ],
  ['the key of the page as a token', 403, { headers: { ...program, ...bearer(key) } }],
  ['a token as the key of the page', 403, { headers: { ...page, authorization: `Offshoot ${text(token)}` } }],
  [
    'the key of the page on the socket',
    403,
    { at: socket, headers: { ...overSocket, authorization: `Offshoot ${text(key)}` } },
  ],
  ['an Origin on the socket', 403, { at: socket, headers: { ...overSocket, origin: 'http://localhost' } }],
  ['a Host of the port on the socket', 403, { at: socket, headers: { ...overSocket, host: port.host } }],
  [
    'the token of daemon.json at an address for others',
    403,
    { at: abroad, headers: { ...program, host: 'tower.lan', ...bearer(owner) } },
  ],
  ['a stop with a token that is not the owner’s', 403, { target: '/stop' }],
  ['a code for a page with a token that is not the owner’s', 403, { target: '/page/code' }],
  ['a code for a page with the key of a page', 403, { target: '/page/code', headers: page }],
  ['an exchange of a code by a program', 403, { target: '/page/key', headers: { host: port.host, ...json } }],
  [
    'an exchange of a code by a page of another port',
    403,
    { target: '/page/key', headers: { ...page, origin: 'http://127.0.0.1:6338' } },
  ],
  [
    'an exchange of a code on the socket',
    403,
    { target: '/page/key', at: socket, headers: { host: 'localhost', ...json } },
  ],
  ['a target in absolute form', 403, { target: 'http://127.0.0.1:6337/api/task.list' }],
  [
    'a target in absolute form that names somebody else',
    403,
    { target: 'http://evil.example/api/task.list' },
  ],
  ['a target that begins with two slashes', 403, { target: '//evil.example/api/task.list' }],
  ['the target *', 403, { method: 'OPTIONS', target: '*' }],
  ['a target with a line end', 403, { target: '/api/task.list\r\nx: y' }],
  ['a target with bytes that are no ASCII', 403, { target: '/api/täsk.list' }],
  ['a preflight', 404, { method: 'OPTIONS', headers: page }],
  ['a PUT of an action', 404, { method: 'PUT' }],
  [
    'a WebSocket elsewhere than at /ws',
    404,
    { ...upgrade, target: '/api/task.list', headers: { ...program, ...withoutBody } },
  ],
  ['a WebSocket without a token', 401, { ...upgrade, headers: { host: port.host, origin: port.origin } }],
  [
    'a WebSocket of a page on another port, with the cookie and the key',
    403,
    {
      ...upgrade,
      headers: {
        host: port.host,
        origin: 'http://127.0.0.1:6338',
        cookie: 'a=b',
        'sec-websocket-protocol': `key.${text(key)}`,
      },
    },
  ],
  [
    'a WebSocket with the key and no Origin',
    403,
    { ...upgrade, headers: { host: port.host, 'sec-websocket-protocol': `key.${text(key)}` } },
  ],
  ['a right token for an id at which too many were wrong', 429, { knows: { limited: new Set([token]) } }],
  [
    'an unknown token when too many were wrong',
    429,
    { headers: { ...program, ...bearer('eeeeeeee') }, knows: { limited: new Set(['unknown']) } },
  ],
]

describe('D2: the guard refuses', () => {
  test.each(attacks)('%s: %i', (_, status, asked) => {
    expect(statusOf(asked)).toBe(status)
  })

  test('every way that no row of the table names', () => {
    for (const target of ['/stopp', '/stop/', '/metrics/x', '/page', '/page/keys'])
      expect(statusOf({ target })).toBe(404)
  })
})

test('D2: only wrong tokens are counted, and each under its own id', () => {
  expect(
    ask({ headers: { ...program, authorization: `Bearer ${tokenText(token, 'x'.repeat(43))}` } }),
  ).toMatchObject({
    attempt: token,
  })
  expect(ask({ headers: { ...program, ...bearer('eeeeeeee') } })).toMatchObject({ attempt: 'unknown' })
  expect(ask({ headers: { ...program, authorization: undefined } })).not.toHaveProperty('attempt')
  expect(
    ask({ headers: { ...program, ...bearer('eeeeeeee'), origin: 'https://evil.example' } }),
  ).not.toHaveProperty('attempt')
  expect(ask({ knows: { limited: new Set(['unknown', owner]) } })).toMatchObject({ ok: true })
})

test('D2: a file of the page is looked up by its name, so that a path out of the folder is a name that is not there', () => {
  for (const target of ['/../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/..%2f..%2fetc/passwd'])
    expect(ask({ method: 'GET', target, headers: { host: port.host } })).toMatchObject({
      ok: true,
      route: 'file',
      path: target,
    })
  expect(statusOf({ method: 'GET', target: '/\\..\\etc', headers: { host: port.host } })).toBe(403)
})
