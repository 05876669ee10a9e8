/** One WebSocket: reads its messages, calls the actions that they ask for, and sends answers, events and output. */
import type { WebSocket } from 'ws'
import { type Feeds, openSubscription } from '../api/follow.ts'
import { AppError, appError } from '../core/model/errors.ts'
import type { Ports } from '../core/ports/index.ts'
import {
  type ConnectionAction,
  connectionSchemas,
  type Incoming,
  type Notification,
  readMessage,
  requirePayload,
  type SubscribeInput,
} from '../protocol/envelope.ts'
import { type Cursor, openCursor } from './cursor.ts'
import { type ForecastPush, openForecastPush } from './forecast-push.ts'
import type { Credential } from './guard.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { knownName, type Outcome, type Perform } from './perform.ts'
import { openTold } from './told.ts'
import type { UnderWay } from './under-way.ts'
import { openWire } from './wire.ts'

/** How many requests of one connection may be under way. */
const mostRequests = 32

/** https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1; codes from 4000 on are ours. */
const codes = { done: 1000, goingAway: 1001, notText: 1003, failed: 1011, revoked: 4401 }

export interface ConnectionNeeds extends Feeds {
  readonly ports: Ports
  /** The id of this process, which no other daemon ever has. */
  readonly daemon: string
  readonly perform: Perform
  readonly underWay: UnderWay
  readonly log: Log
  readonly metrics: Metrics
  /** Whether the credential still opens the daemon, by now or as of a moment ago. */
  readonly isValid: (credential: Credential, when: 'now' | 'lately') => Promise<boolean>
  /** The last word about the disk, if it is full. */
  readonly findFullDisk: () => DiskNotice | undefined
}

export type DiskNotice = Extract<Notification, { action: 'disk' }>

export interface Connection {
  /** The client has taken what it was sent. */
  drained(): void
  /** Tells the client about the disk, if it has subscribed. */
  tell(notice: DiskNotice): void
  /** Sends a sign of life; ends the connection when its token does not count any more. */
  beat(): void
  /** When the client last gave a sign of life, by `performance.now()`. */
  readonly seenAt: number
  /** Bytes that the client has not taken yet. */
  readonly waiting: number
  /** Takes no more requests, and closes when those under way are answered. */
  retire(): void
}

interface Running {
  readonly cancel: AbortController
}

export function openConnection(
  needs: ConnectionNeeds,
  socket: WebSocket,
  credential: Credential,
): Connection {
  const { ports, feed, output, forecasts, daemon, perform, underWay, log, metrics, isValid, findFullDisk } =
    needs
  const running = new Map<string, Set<Running>>()
  const left = new AbortController()
  let count = 0
  let cursor: Cursor | undefined
  let forecastPush: ForecastPush | undefined
  let stopOutput = () => {}
  let seenAt = performance.now()
  let isRetired = false
  const wire = openWire(
    (text) => {
      if (socket.readyState !== socket.OPEN) return
      socket.send(text)
      // Who takes no answers may ask no more, or the answers would fill the memory.
      if (!wire.hasRoom()) socket.pause()
    },
    () => socket.bufferedAmount,
  )

  function revoke(): void {
    socket.close(codes.revoked, 'the token does not count any more')
    unsubscribe()
  }

  function unsubscribe(): void {
    cursor?.close()
    forecastPush?.close()
    stopOutput()
    cursor = undefined
    forecastPush = undefined
    stopOutput = () => {}
  }

  async function subscribe(input: SubscribeInput): Promise<object> {
    const subscription = await openSubscription(ports, feed, credential.caller, input)
    const end = await feed.readEnd()
    unsubscribe()
    cursor = openCursor(
      {
        feed,
        subscription,
        wire,
        now: () => performance.now(),
        failed(thrown) {
          log.error({ err: thrown }, 'events cannot be read')
          socket.close(codes.failed, 'events cannot be read')
        },
        async isLet() {
          if (await isValid(credential, 'lately')) return true
          revoke()
          return false
        },
        sent: (action) =>
          metrics.count('offshoot_socket_pushed_total', 'Messages that were pushed.', { action }),
      },
      end,
      input,
    )
    if (input.output)
      stopOutput = output.listen((part) => {
        if (!subscription.filter.fits(part) || !wire.isQuick()) return
        wire.push({ type: 'notification', action: 'task.output', payload: part })
      })
    if (input.forecast) forecastPush = openForecastPush(forecasts, wire, subscription.filter.fitsRepo)
    return { seq: end.seq, log: end.log }
  }

  /** What a connection does for itself. Runs `after` when the answer has been sent. */
  const own: Record<ConnectionAction, (payload: unknown) => Promise<{ output: object; after?: () => void }>> =
    {
      subscribe: async (payload) => ({
        output: await subscribe(requirePayload('subscribe', payload)),
        after() {
          cursor?.go()
          forecastPush?.go()
          const full = findFullDisk()
          if (full) wire.push(full)
        },
      }),
      async unsubscribe(payload) {
        requirePayload('unsubscribe', payload)
        unsubscribe()
        return { output: {} }
      },
      async ping(payload) {
        requirePayload('ping', payload)
        return { output: { at: ports.clock.now().toISOString(), daemon } }
      },
    }

  async function answer(
    message: Extract<Incoming, { type: 'request' }>,
    cancels: AbortSignal,
  ): Promise<void> {
    const { id, action: name, payload: body } = message
    const begun = performance.now()
    let after: (() => void) | undefined
    let outcome: Outcome
    if (isConnectionAction(name)) {
      outcome = await own[name](body).then(
        (done) => {
          after = done.after
          return { ok: true, output: done.output }
        },
        (thrown: unknown) => ({ ok: false, error: appError(thrown) }),
      )
    } else {
      const told = openTold(wire, id)
      outcome = await underWay.run(undefined, () =>
        perform({ credential, name, body, key: id, leaves: left.signal, cancels, emit: told.emit }),
      )
      told.flush()
    }
    send(id, name, outcome)
    note(name, outcome, (performance.now() - begun) / 1000)
    after?.()
  }

  function send(id: string | null, action: string | null, outcome: Outcome): void {
    if (outcome.ok && id !== null && action !== null)
      wire.push({ id, type: 'response', action, payload: { ok: true, ...outcome.output } })
    else if (!outcome.ok) wire.push({ id, type: 'error', action, error: outcome.error.toJSON() })
  }

  function note(name: string, outcome: Outcome, seconds: number): void {
    const action = isConnectionAction(name) ? name : knownName(name)
    const status = outcome.ok ? 'ok' : outcome.error.code
    metrics.count('offshoot_socket_requests_total', 'Requests over WebSocket.', { action, status })
    metrics.time('offshoot_socket_request_seconds', 'How long they took.', { action }, seconds)
    log.info({ action, status, ms: Math.round(seconds * 1000), by: credential.id }, 'socket')
  }

  async function take(message: Extract<Incoming, { type: 'request' }>): Promise<void> {
    const { id, action } = message
    const refuse = (error: AppError) => send(id, action, { ok: false, error })
    if (isRetired)
      return refuse(new AppError('cancelled', 'The daemon stops.', { hint: 'Ask again when it runs.' }))
    if (count >= mostRequests) return refuse(tooMany())
    count += 1
    const own = { cancel: new AbortController() }
    const same = running.get(id) ?? new Set()
    running.set(id, same.add(own))
    try {
      if (await isValid(credential, 'now')) await answer(message, own.cancel.signal)
      else revoke()
    } finally {
      count -= 1
      same.delete(own)
      if (same.size === 0) running.delete(id)
      if (isRetired && count === 0) socket.close(codes.goingAway, 'the daemon stops')
    }
  }

  function cancel(id: string): void {
    for (const { cancel } of running.get(id) ?? [])
      cancel.abort(new AppError('cancelled', 'Cancelled by the client.'))
  }

  socket.on('message', (data, isBinary) => {
    seenAt = performance.now()
    if (isBinary) return socket.close(codes.notText, 'messages are text')
    const read = readMessage((data as Buffer).toString('utf8'))
    if (!read.ok) return send(read.id, read.action, read)
    if (read.message.type === 'cancel') return cancel(read.message.id)
    take(read.message).catch((thrown: unknown) => {
      log.error({ err: thrown }, 'a message failed')
      socket.close(codes.failed, 'a message failed')
    })
  })
  socket.on('pong', () => (seenAt = performance.now()))
  // Whatever is wrong with the connection, `close` follows.
  socket.on('error', (thrown) => log.debug({ err: thrown }, 'a socket failed'))
  socket.on('close', (code) => {
    unsubscribe()
    // Who says goodbye does not come back; a connection that broke may be made again.
    if (code === codes.done) for (const id of running.keys()) cancel(id)
    left.abort(new AppError('cancelled', 'The client left before the answer.'))
  })

  return {
    drained() {
      seenAt = performance.now()
      socket.resume()
      cursor?.go()
      forecastPush?.go()
    },
    tell(notice) {
      if (cursor && wire.hasRoom()) wire.push(notice)
    },
    beat() {
      if (!wire.hasRoom()) return
      const at = ports.clock.now().toISOString()
      wire.push({ type: 'notification', action: 'heartbeat', payload: { at, ...cursor?.beat() } })
      socket.ping()
      void isValid(credential, 'lately').then((valid) => valid || revoke())
    },
    get seenAt() {
      return seenAt
    },
    get waiting() {
      return socket.bufferedAmount
    },
    retire() {
      isRetired = true
      if (count === 0) socket.close(codes.goingAway, 'the daemon stops')
    },
  }
}

function isConnectionAction(name: string): name is ConnectionAction {
  return Object.hasOwn(connectionSchemas, name)
}

function tooMany(): AppError {
  return new AppError(
    'limitReached',
    `More than ${mostRequests} requests of this connection are under way.`,
    {
      hint: 'Wait for an answer before the next request, or open another connection.',
    },
  )
}
