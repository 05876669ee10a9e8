/** The WebSocket door: takes over connections that the guard let in, keeps them alive, and closes them (docs/adr/0064-one-cursor-a-client.md). */
import type { Duplex } from 'node:stream'
import type { WebSocketServer } from 'ws'
import { subprotocol } from '../protocol/envelope.ts'
import { type Connection, type ConnectionNeeds, type DiskNotice, openConnection } from './connection.ts'
import type { Credential } from './guard.ts'
import { type Accept, refusal } from './upgrade.ts'

/** In bytes of one message of a client. */
const largest = 64 * 1024
/** Connections with one token: the page and programs of a user need few. */
const mostWithOne = 32
const beatMs = 15_000
/** Without a sign of life for this long, the client is gone. */
const silentMs = 120_000

export interface Sockets {
  readonly accept: Accept
  readonly size: number
  /** Bytes that clients have not taken yet. */
  readonly waiting: number
  /** Tells every subscriber about the disk. */
  tell(notice: DiskNotice): void
  /** Takes no more requests; each connection is closed when its last request is answered. */
  retire(): void
  /** Closes all that are left. */
  close(): void
}

export function openSockets(needs: ConnectionNeeds): Sockets {
  const open = new Map<Connection, { readonly credential: Credential; readonly terminate: () => void }>()
  let isRetired = false
  let beating: NodeJS.Timeout | undefined
  let loading: Promise<WebSocketServer> | undefined
  const load = () => (loading ??= makeServer())

  const beat = () => {
    for (const [connection, { terminate }] of open)
      if (performance.now() - connection.seenAt > silentMs) terminate()
      else connection.beat()
  }

  function isFull({ id }: Credential): boolean {
    const others = [...open.values()].filter(({ credential }) => credential.id === id)
    return others.length >= mostWithOne
  }

  return {
    async accept(request, stream, head, { credential }) {
      const server = await load()
      if (isRetired || !credential) return turnAway(stream, 403)
      if (isFull(credential)) return turnAway(stream, 429)
      server.handleUpgrade(request, stream, head, (socket) => {
        const connection = openConnection(needs, socket, credential)
        open.set(connection, { credential, terminate: () => socket.terminate() })
        beating ??= setInterval(beat, beatMs).unref()
        stream.on('drain', connection.drained)
        socket.on('close', () => {
          open.delete(connection)
          if (open.size > 0) return
          clearInterval(beating)
          beating = undefined
        })
      })
    },
    get size() {
      return open.size
    },
    get waiting() {
      return [...open.keys()].reduce((sum, { waiting }) => sum + waiting, 0)
    },
    tell(notice) {
      for (const connection of open.keys()) connection.tell(notice)
    },
    retire() {
      isRetired = true
      for (const connection of open.keys()) connection.retire()
    },
    close() {
      for (const { terminate } of open.values()) terminate()
    },
  }
}

/** Is loaded when somebody comes: a daemon that only answers HTTP does not need it. */
async function makeServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws')
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: largest,
    // Never the one that carries the key.
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  })
}

function turnAway(stream: Duplex, status: number): void {
  stream.end(refusal(status))
}
