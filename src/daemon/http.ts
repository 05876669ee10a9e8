/** The HTTP door: each request passes the guard, and is then answered by the way that it takes. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { AppError } from '../core/model/errors.ts'
import type { Connection, ConnectionEnd } from '../core/ports/processes.ts'
import { failure, type HttpAnswer } from './answer.ts'
import type { Attempts } from './attempts.ts'
import { type Allowed, type Entrance, guard, type Known, type RequestFacts, type Verdict } from './guard.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { knownName } from './perform.ts'
import { restOf, type Route, type RouteName, routes } from './routes.ts'
import type { UnderWay } from './under-way.ts'

/** A request that the guard let in. */
interface HttpCall {
  readonly allowed: Allowed
  readonly entrance: Entrance
  /** The value of the JSON body; undefined for a GET. */
  readonly body: unknown
  /** Aborts when the client leaves, or when the daemon stops. */
  readonly signal: AbortSignal
  /** The two ends of a connection over the network; undefined on the socket, and when the client has left. */
  readonly connection?: Connection | undefined
  /** The first header of that name. */
  header(name: string): string | undefined
}

/** Answers one kind of request. */
export type Way = (call: HttpCall) => Promise<HttpAnswer> | HttpAnswer

export interface HttpDoor {
  readonly ways: Readonly<Record<Exclude<RouteName, 'command' | 'socket'>, Way>>
  readonly underWay: UnderWay
  readonly inspect: Inspect
  readonly log: Log
  readonly metrics: Metrics
}

/** Asks the guard about a request, and counts and logs what it refuses. The WebSocket asks by the same function. */
export type Inspect = (request: IncomingMessage, entrance: Entrance) => Promise<Verdict>

export function openInspect(
  { log, metrics, attempts }: Pick<HttpDoor, 'log' | 'metrics'> & { readonly attempts: Attempts },
  readKnown: () => Promise<Omit<Known, 'limited'>>,
): Inspect {
  const isTold = openRationing(() => performance.now())
  return async (request, entrance) => {
    const verdict = guard(factsOf(request), entrance, { ...(await readKnown()), limited: attempts.limited() })
    if (verdict.ok) return verdict
    const { status, reason, attempt } = verdict
    if (attempt !== undefined && status === 401) attempts.note(attempt)
    metrics.count('offshoot_refused_total', 'Requests that the guard refused.', { reason })
    if (isTold()) log.warn({ status, method: request.method, path: pathOf(request) }, `refused: ${reason}`)
    return verdict
  }
}

/** So many refusals are logged in a minute. The counter counts all; a flood must not push everything else out of the log. */
const mostTold = 100

function openRationing(now: () => number): () => boolean {
  let [minute, told] = [0, 0]
  return () => {
    const current = Math.floor(now() / 60_000)
    if (current !== minute) [minute, told] = [current, 0]
    return ++told <= mostTold
  }
}

function factsOf(request: IncomingMessage): RequestFacts {
  const { method = '', url = '', rawHeaders } = request
  const headers: [string, string][] = []
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.push([(rawHeaders[at] ?? '').toLowerCase(), rawHeaders[at + 1] ?? ''])
  return { method, target: url, headers, upgrades: request.headers.upgrade !== undefined }
}

/** For the log: without the query, in which somebody may have put a token. */
function pathOf({ url = '' }: IncomingMessage): string {
  return (url.split('?')[0] ?? '').slice(0, 200)
}

export function openHttp(door: HttpDoor, entrance: Entrance): RequestListener {
  return (request, response) => {
    respond(door, entrance, request, response).catch((thrown: unknown) => {
      // A client that hangs up in the middle of its request is no failure of ours.
      door.log[request.destroyed ? 'debug' : 'error']({ err: thrown }, 'a request failed')
      response.destroy()
    })
  }
}

async function respond(
  door: HttpDoor,
  entrance: Entrance,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const begun = performance.now()
  const verdict = await door.inspect(request, entrance)
  if (!verdict.ok) return turnAway(response, verdict.status)
  const { route } = verdict
  if (route === 'socket' || route === 'command') return turnAway(response, 404)
  const { largest, method }: Route = routes[route]
  const text = method === 'GET' ? '' : await readBody(request, largest)
  if (text === undefined) return turnAway(response, 413)
  const answer = await door.underWay.run(response, async (signal) => {
    try {
      const body = method === 'GET' ? undefined : parsed(text)
      return await door.ways[route]({
        allowed: verdict,
        entrance,
        body,
        signal,
        connection: connectionOf(request),
        header: (name) => request.headersDistinct[name]?.[0],
      })
    } catch (thrown) {
      return failure(thrown)
    }
  })
  note(door, verdict, answer, (performance.now() - begun) / 1000)
  send(response, answer)
}

function connectionOf({ socket }: IncomingMessage): Connection | undefined {
  const ours = endOf(socket.localAddress, socket.localPort)
  const theirs = endOf(socket.remoteAddress, socket.remotePort)
  return ours && theirs && { ours, theirs }
}

function endOf(address: string | undefined, port: number | undefined): ConnectionEnd | undefined {
  return address === undefined || port === undefined ? undefined : { address, port }
}

function note({ log, metrics }: HttpDoor, allowed: Allowed, { status }: HttpAnswer, seconds: number): void {
  const { route, path, credential } = allowed
  const asked = { route, ...(route === 'api' && { action: knownName(restOf(route, path)) }) }
  const labels = { ...asked, status: String(status) }
  metrics.count('offshoot_http_requests_total', 'Requests that were answered.', labels)
  metrics.time('offshoot_http_request_seconds', 'How long requests took.', asked, seconds)
  const level = route === 'health' || route === 'file' ? 'debug' : 'info'
  log[level]({ path, status, ms: Math.round(seconds * 1000), by: credential?.id }, route)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('wrongUsage', 'The body is no JSON.', { hint: 'Send one JSON object.', cause })
  }
}

/** The body as text; undefined when it is too long. */
async function readBody(request: IncomingMessage, largest: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > largest) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** On every answer. There is no header of CORS: no other origin may read anything. */
const everywhere: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

function send(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  const length = Buffer.byteLength(body)
  response.writeHead(status, { ...everywhere, ...headers, 'content-length': length }).end(body)
}

/** Says no more than the status, and hangs up: a body may still be on its way. */
function turnAway(response: ServerResponse, status: number): void {
  const asks = status === 401 ? { 'www-authenticate': 'Bearer' } : {}
  response.writeHead(status, { ...everywhere, ...asks, 'content-length': 0, connection: 'close' }).end()
}
