/**
 * A client of the daemon's WebSocket: requests that survive a broken connection, and events that arrive once and in order.
 * Browser-safe: whoever uses it hands in the connection (docs/daemon.md).
 */
import { actions } from '../actions/index.ts'
import type { Notification, Outgoing, SubscribeInput } from '../protocol/envelope.ts'
import { receive, type Seen } from './seen.ts'

/** What a WebSocket of a browser, of Node and of the package `ws` have in common. */
export interface Channel {
  send(text: string): void
  close(code?: number): void
  onopen: ((event: never) => void) | null
  onmessage: ((event: { readonly data: unknown }) => void) | null
  onclose: ((event: { readonly code: number }) => void) | null
  onerror: ((event: never) => void) | null
}

/** `refused`: the token does not count any more, so no new connection is tried. */
export type SocketState = 'connecting' | 'live' | 'offline' | 'refused' | 'closed'

export interface SocketOptions {
  /** Makes a connection. It is called again whenever the last one broke. */
  readonly connect: () => Channel | Promise<Channel>
  readonly onState?: ((state: SocketState) => void) | undefined
}

type Pushed<A extends Notification['action']> = Extract<Notification, { action: A }>['payload']

interface Subscriber {
  /** The tasks as they are, at the beginning and whenever too much was missed: whatever was known before is replaced. */
  readonly onSnapshot: (snapshot: Pushed<'snapshot'>) => void
  /** Each event once, in the order of the log. */
  readonly onEvent: (event: Pushed<'task.event'>) => void
  readonly onOutput?: ((output: Pushed<'task.output'>) => void) | undefined
  /** How the forecast of a repository differs from what was told before; `whole`: after a new connection, all of it. */
  readonly onForecast?: ((change: Pushed<'forecast.changed'>) => void) | undefined
  /** The disk is nearly full, or has space again. */
  readonly onDisk?: ((disk: Pushed<'disk'>) => void) | undefined
  /** The daemon does not let this caller follow, or knows no such repository. */
  readonly onRefused?: ((error: ActionError) => void) | undefined
}

export interface SocketClient {
  /** The payload of the answer. Throws `ActionError`. Aborting cancels the request as Ctrl-C would. */
  request(action: string, payload?: object, options?: RequestOptions): Promise<Record<string, unknown>>
  /** Follows the log from `since` on, or from a snapshot; across every reconnect until it is called off. One at a time. */
  subscribe(input: SubscribeInput, subscriber: Subscriber): () => void
  /** Asks for a sign of life, and makes a new connection if none comes: for a page that was asleep. */
  probe(): void
  close(): void
}

interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  /** Hears what the action tells while it goes on. */
  readonly onOutput?: ((output: Pushed<'task.output'>) => void) | undefined
}

/** An error as the daemon told it, or one of the connection: then the code is `offline` or `unknown`. */
export class ActionError extends Error {
  readonly code: string
  readonly hint: string
  readonly data: unknown
  constructor({
    code,
    message,
    hint,
    data,
  }: { code: string; message: string; hint: string; data?: unknown }) {
    super(message)
    this.code = code
    this.hint = hint
    this.data = data
  }
}

const times = { silentMs: 25_000, probeMs: 3000, firstMs: 250, longestMs: 2000, keptMs: 9 * 60_000 }
const codes = { done: 1000, revoked: 4401, silent: 4000 }

interface Pending {
  readonly action: string
  readonly text: string
  readonly resolve: (payload: Record<string, unknown>) => void
  readonly reject: (error: ActionError) => void
  readonly onOutput: RequestOptions['onOutput']
  /** When it was first sent, and to which daemon. */
  sentAt?: number
  sentTo?: string
}

interface Following {
  readonly input: SubscribeInput
  readonly subscriber: Subscriber
  seen: Seen
  /** The id of the `subscribe` whose answer is awaited: until then, what arrives is of the time before. */
  asking?: string | undefined
}

export function openSocket({ connect, onState }: SocketOptions): SocketClient {
  const pending = new Map<string, Pending>()
  let following: Following | undefined
  let channel: Channel | undefined
  let daemon: string | undefined
  let hello: string | undefined
  let state: SocketState | undefined
  let waitMs = times.firstMs
  let watchdog: Timer | undefined
  let again: Timer | undefined

  function become(next: SocketState): void {
    if (next === state) return
    state = next
    onState?.(next)
  }
  const isOver = () => state === 'closed' || state === 'refused'

  /** Whoever says nothing for so long is gone, whatever the connection says of itself. */
  function expectLife(ms: number): void {
    clearTimeout(watchdog)
    const mine = channel
    watchdog = setTimeout(() => mine === channel && drop(codes.silent), ms)
  }

  function drop(code: number): void {
    const old = channel
    channel = undefined
    if (old) {
      old.onopen = old.onmessage = old.onclose = null
      old.close(code)
    }
    retry()
  }

  function retry(): void {
    clearTimeout(watchdog)
    if (isOver()) return
    become('offline')
    clearTimeout(again)
    // With some chance in it, so that many clients do not come back at the same moment.
    again = setTimeout(open, waitMs * (0.5 + Math.random() / 2))
    waitMs = Math.min(waitMs * 2, times.longestMs)
  }

  function open(): void {
    become('connecting')
    Promise.resolve()
      .then(connect)
      .then(use, () => retry())
  }

  function use(made: Channel): void {
    if (isOver()) return made.close(codes.done)
    channel = made
    made.onopen = () => {
      // The answer tells which daemon this is: another one knows nothing of what the last was asked.
      hello = crypto.randomUUID()
      send({ id: hello, type: 'request', action: 'ping', payload: {} })
    }
    made.onmessage = ({ data }) => {
      if (made !== channel) return
      expectLife(times.silentMs)
      heard(JSON.parse(String(data)) as Outgoing)
    }
    made.onerror = () => {}
    made.onclose = ({ code }) => {
      if (made !== channel) return
      channel = undefined
      if (code === codes.revoked) return end('refused', refusedError())
      retry()
    }
    expectLife(times.silentMs)
  }

  const send = (message: object) => channel?.send(JSON.stringify(message))

  function begin(id: string): void {
    daemon = id
    waitMs = times.firstMs
    become('live')
    for (const [key, one] of pending) deliver(key, one)
    if (following) follow(following)
  }

  /** Sends a request, or sends it again. What writes is sent again only to who remembers the first time. */
  function deliver(id: string, one: Pending): void {
    if (!channel || daemon === undefined || state !== 'live') return
    const isForgotten =
      one.sentAt !== undefined && (one.sentTo !== daemon || Date.now() - one.sentAt > times.keptMs)
    if (isForgotten && mayWrite(one.action)) {
      pending.delete(id)
      return one.reject(unknownError(one.action))
    }
    one.sentAt ??= Date.now()
    one.sentTo = daemon
    channel.send(one.text)
  }

  function follow(one: Following): void {
    const { seq, log } = one.seen
    one.asking = crypto.randomUUID()
    const since = seq === undefined ? {} : { since: seq, ...(log !== undefined && { log }) }
    const payload = { ...one.input, since: undefined, log: undefined, ...since }
    send({ id: one.asking, type: 'request', action: 'subscribe', payload })
  }

  function heard(message: Outgoing): void {
    if (message.type === 'notification') return pushed(message)
    if (message.id === hello && message.type === 'response') return begin(String(message.payload.daemon))
    if (following && message.id === following.asking) return subscribed(following, message)
    const one = message.id === null ? undefined : pending.get(message.id)
    if (!one || message.id === null) return
    pending.delete(message.id)
    if (message.type === 'error') one.reject(new ActionError(message.error))
    else one.resolve(message.payload)
  }

  function subscribed(one: Following, message: Exclude<Outgoing, Notification>): void {
    one.asking = undefined
    if (message.type === 'error') {
      following = undefined
      return one.subscriber.onRefused?.(new ActionError(message.error))
    }
    // Who began with a number of its own learns here which log that is.
    if (one.seen.seq !== undefined) one.seen = { log: String(message.payload.log), ...one.seen }
  }

  function pushed(message: Notification): void {
    if (message.action === 'task.output') {
      const { payload } = message
      if ('request' in payload) return pending.get(payload.request)?.onOutput?.(payload)
      return following?.subscriber.onOutput?.(payload)
    }
    if (message.action === 'forecast.changed') return following?.subscriber.onForecast?.(message.payload)
    if (!following || following.asking !== undefined) return
    if (message.action === 'disk') return following.subscriber.onDisk?.(message.payload)
    const { seen, verdict } = receive(following.seen, message)
    following.seen = seen
    if (verdict === 'gap') return follow(following)
    if (verdict === 'old') return
    if (message.action === 'task.event') following.subscriber.onEvent(message.payload)
    else if (message.action !== 'heartbeat') following.subscriber.onSnapshot(message.payload)
  }

  function end(final: 'refused' | 'closed', error: ActionError): void {
    become(final)
    clearTimeout(watchdog)
    clearTimeout(again)
    const old = channel
    channel = undefined
    old?.close(codes.done)
    for (const one of pending.values()) one.reject(error)
    pending.clear()
  }

  open()
  return {
    request(action, payload = {}, { signal, onOutput } = {}) {
      const id = crypto.randomUUID()
      return new Promise((resolve, reject) => {
        if (isOver() || signal?.aborted) return reject(isOver() ? closedError() : cancelledError())
        const cancel = () => {
          const one = pending.get(id)
          if (!one) return
          if (one.sentAt === undefined) {
            pending.delete(id)
            return reject(cancelledError())
          }
          send({ id, type: 'cancel' })
        }
        signal?.addEventListener('abort', cancel)
        const leave = () => signal?.removeEventListener('abort', cancel)
        const text = JSON.stringify({ id, type: 'request', action, payload })
        const one: Pending = {
          action,
          text,
          onOutput,
          resolve: (answer) => (leave(), resolve(answer)),
          reject: (error) => (leave(), reject(error)),
        }
        pending.set(id, one)
        deliver(id, one)
      })
    },
    subscribe(input, subscriber) {
      const mine: Following = { input, subscriber, seen: { seq: input.since, log: input.log } }
      following = mine
      if (state === 'live') follow(mine)
      return () => {
        if (following !== mine) return
        following = undefined
        if (state === 'live')
          send({ id: crypto.randomUUID(), type: 'request', action: 'unsubscribe', payload: {} })
      }
    },
    probe() {
      if (!channel) return
      send({ id: crypto.randomUUID(), type: 'request', action: 'ping', payload: {} })
      expectLife(times.probeMs)
    },
    close: () => isOver() || end('closed', closedError()),
  }
}

type Timer = ReturnType<typeof setTimeout>

/** A second name may stand for anything. */
function mayWrite(action: string): boolean {
  return !(action in actions) || actions[action as keyof typeof actions].writes === true
}

const closedError = () =>
  new ActionError({ code: 'offline', message: 'The connection is closed.', hint: 'Open a new one.' })

const cancelledError = () =>
  new ActionError({ code: 'offline', message: 'Cancelled before it was sent.', hint: 'Ask again.' })

const refusedError = () =>
  new ActionError({
    code: 'offline',
    message: 'The token does not count any more.',
    hint: 'Make a new one: offshoot token create --scope look',
  })

const unknownError = (action: string) =>
  new ActionError({
    code: 'unknown',
    message: `The daemon was restarted, or you were away for long: whether ${action} was done is not known.`,
    hint: 'Look at the task before you ask again.',
  })
