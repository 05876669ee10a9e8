/**
 * The guard in front of every way into the daemon: HTTP, files of the page and WebSocket alike. Pure: from the facts of a
 * request it decides who calls, or why nobody gets in (docs/adr/0060-one-guard.md).
 */
import type { Caller } from '../api/caller.ts'
import { idInToken, isExpired, isTokenOf } from '../core/model/token.ts'
import { findRoute, type Route, type RouteName, routes } from './routes.ts'

/** What a request says of itself, as it arrived. */
export interface RequestFacts {
  readonly method: string
  /** The request target, unparsed: `/api/task.list`. */
  readonly target: string
  /** Names in lower case, in the order in which they came, each as often as it came. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** It asks to become a WebSocket. */
  readonly upgrades: boolean
}

/** Where a request arrived. */
export interface Entrance {
  /** The only `Host` that is right here: `127.0.0.1:6337`. */
  readonly host: string
  /** The origin of our own page; undefined on the unix socket, where no browser comes. */
  readonly origin?: string | undefined
  /** The token of daemon.json opens nothing here, as the entrance is open to other machines. */
  readonly isPublic?: boolean | undefined
  /** What a proof for this entrance names: the url, or the path of the socket. */
  readonly address: string
}

/** A token that opens the daemon, as the guard knows it. */
export interface Credential {
  readonly id: string
  readonly hash: string
  readonly expiresAt: string
  /** `owner` is the token of daemon.json, `page` the key of a browser. */
  readonly kind: 'owner' | 'token' | 'page'
  readonly caller: Caller
}

export interface Known {
  readonly credentials: readonly Credential[]
  /** Ids for which too many wrong tokens came lately. */
  readonly limited: ReadonlySet<string>
  readonly now: Date
}

export interface Allowed {
  readonly ok: true
  readonly route: RouteName
  /** The path of the target, without a query. */
  readonly path: string
  /** Undefined where anybody may come in. */
  readonly credential?: Credential | undefined
}

interface Refused {
  readonly ok: false
  readonly status: 401 | 403 | 404 | 413 | 429
  /** For the log. The caller only sees the status. */
  readonly reason: string
  /** A wrong token was tried: the id that it names, to be counted. */
  readonly attempt?: string | undefined
}

export type Verdict = Allowed | Refused

const refuse = (status: Refused['status'], reason: string, attempt?: string): Refused => ({
  ok: false,
  status,
  reason,
  ...(attempt !== undefined && { attempt }),
})

/** Tokens that no record is known of share one count. */
const unknownId = 'unknown'

export function guard(request: RequestFacts, entrance: Entrance, known: Known): Verdict {
  const read = reader(request.headers)
  const wrong = findForeign(request, entrance, read)
  if (wrong !== undefined) return refuse(403, wrong)
  const [path = ''] = request.target.split('?')
  const name = findRoute(request.method, path, request.upgrades)
  if (name === undefined) return refuse(404, 'no such way')
  const route: Route = routes[name]
  const misshaped = findMisshape(route, read)
  if (misshaped) return misshaped
  if (route.access === 'anybody') return { ok: true, route: name, path }
  if (route.access === 'page') {
    const isPage = entrance.origin !== undefined && read('origin') === entrance.origin
    return isPage ? { ok: true, route: name, path } : refuse(403, 'only our own page may exchange a code')
  }
  const found = identify(read, entrance, known)
  if ('status' in found) return found
  if (route.access === 'owner' && found.kind !== 'owner') return refuse(403, 'only the token of daemon.json')
  return { ok: true, route: name, path, credential: found }
}

type Read = (name: string) => string | undefined

function reader(headers: RequestFacts['headers']): Read {
  const first = new Map<string, string>()
  for (const [name, value] of headers) if (!first.has(name)) first.set(name, value)
  return (name) => first.get(name)
}

/** Headers that a second value would make ambiguous: one part of a program reads the first, another the last. */
const single = new Set([
  'host',
  'origin',
  'authorization',
  'content-type',
  'content-length',
  'sec-fetch-site',
  'sec-websocket-protocol',
])

/** Why the request is not from our page, nor from a program that means us. Both are compared with our own address, never with each other. */
function findForeign({ target, headers }: RequestFacts, entrance: Entrance, read: Read): string | undefined {
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(target)) return 'the target is no plain path'
  const seen = new Set<string>()
  for (const [name] of headers) {
    if (single.has(name) && seen.has(name)) return `the header ${name} came twice`
    seen.add(name)
  }
  if (read('host') !== entrance.host) return 'the Host is not ours'
  const origin = read('origin')
  if (origin !== undefined && origin !== entrance.origin) return 'the Origin is not ours'
  const site = read('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'it comes from another site'
  return undefined
}

/** A body that is no JSON, or too long. A page of another site can send any other type of body without being asked. */
function findMisshape({ method, largest }: Route, read: Read): Refused | undefined {
  const length = Number(read('content-length') ?? 0)
  if (method === 'GET') {
    return length > 0 || read('transfer-encoding') !== undefined
      ? refuse(403, 'a GET with a body')
      : undefined
  }
  if (read('content-type') !== 'application/json') return refuse(403, 'the body is no JSON')
  if (read('content-encoding') !== undefined) return refuse(403, 'the body is encoded')
  return length > largest ? refuse(413, 'the body is too long') : undefined
}

interface Presented {
  readonly text: string
  readonly as: 'bearer' | 'key'
}

/** The credential that the request proves, or the refusal. A cookie is no proof: browsers send it to every port. */
function identify(
  read: Read,
  entrance: Entrance,
  { credentials, limited, now }: Known,
): Credential | Refused {
  const presented = findPresented(read)
  if (!presented) return refuse(401, 'no token')
  const { text, as } = presented
  if (as === 'key' && (entrance.origin === undefined || read('origin') !== entrance.origin))
    return refuse(403, 'the key of the page without the Origin of the page')
  const id = idInToken(text)
  const found = credentials.find((credential) => credential.id === id)
  const counted = found?.id ?? unknownId
  if (limited.has(counted)) return refuse(429, 'too many wrong tokens', counted)
  // An unknown token takes as long as a wrong one.
  if (!isTokenOf(text, found?.hash ?? nobody) || !found) return refuse(401, 'a wrong token', counted)
  if (isExpired(found, now)) return refuse(401, 'the token has expired')
  if ((found.kind === 'page') !== (as === 'key'))
    return refuse(403, 'a key where a token belongs, or the reverse')
  if (found.kind === 'owner' && entrance.isPublic)
    return refuse(403, 'the token of daemon.json on a public address')
  return found
}

const nobody = '0'.repeat(64)

/** `Authorization: Bearer …` of a program; `Authorization: Offshoot …` or the subprotocol `key.…` of the page. */
function findPresented(read: Read): Presented | undefined {
  const [scheme = '', text = '', ...more] = (read('authorization') ?? '').split(' ')
  if (more.length > 0) return undefined
  if (scheme.toLowerCase() === 'bearer') return { text, as: 'bearer' }
  if (scheme.toLowerCase() === 'offshoot') return { text, as: 'key' }
  const protocols = (read('sec-websocket-protocol') ?? '').split(',').map((one) => one.trim())
  const key = protocols.find((one) => one.startsWith(keyProtocol))
  return key === undefined ? undefined : { text: key.slice(keyProtocol.length), as: 'key' }
}

/** The subprotocol that carries the key. The answer to the upgrade must not repeat it. */
const keyProtocol = 'key.'
