/** Requests that want to become another connection: the same guard, then the door that takes them. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Allowed, Entrance } from './guard.ts'
import type { Inspect } from './http.ts'
import type { RouteName } from './routes.ts'

/** Takes over a connection that the guard let in. */
export type Accept = (
  request: IncomingMessage,
  connection: Duplex,
  head: Buffer,
  allowed: Allowed,
) => Promise<void>

/** The doors behind the ways that upgrade. */
export type Accepts = Readonly<Record<'command' | 'socket', Accept>>

export function openUpgrade(inspect: Inspect, entrance: Entrance, accepts: Accepts) {
  const findAccept = (route: RouteName) => {
    if (route === 'socket') return accepts.socket
    // A command line is played only for whoever can reach the socket, which no browser can.
    return route === 'command' && entrance.origin === undefined ? accepts.command : undefined
  }
  return (request: IncomingMessage, connection: Duplex, head: Buffer): void => {
    // Until somebody listens to them, an error of the connection would end the daemon.
    connection.on('error', () => connection.destroy())
    const take = async () => {
      const verdict = await inspect(request, entrance)
      const accept = verdict.ok ? findAccept(verdict.route) : undefined
      if (verdict.ok && accept) await accept(request, connection, head, verdict)
      else connection.end(refusal(verdict.ok ? 404 : verdict.status))
    }
    take().catch(() => connection.destroy())
  }
}

export function refusal(status: number): string {
  return `HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`
}
