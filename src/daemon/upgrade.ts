/** Requests that want to become a WebSocket: the same guard, then the door that takes them. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Allowed, Entrance } from './guard.ts'
import type { Inspect } from './http.ts'

/** Takes over a connection that the guard let in. */
export type Accept = (
  request: IncomingMessage,
  connection: Duplex,
  head: Buffer,
  allowed: Allowed,
) => Promise<void>

export function openUpgrade(inspect: Inspect, entrance: Entrance, accept: Accept) {
  return (request: IncomingMessage, connection: Duplex, head: Buffer): void => {
    // Until somebody listens to them, an error of the connection would end the daemon.
    connection.on('error', () => connection.destroy())
    const take = async () => {
      const verdict = await inspect(request, entrance)
      if (verdict.ok && verdict.route === 'socket') await accept(request, connection, head, verdict)
      else connection.end(refusal(verdict.ok ? 404 : verdict.status))
    }
    take().catch(() => connection.destroy())
  }
}

export function refusal(status: number): string {
  return `HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`
}
