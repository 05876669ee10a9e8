/** Listens on an address and on a unix socket, with limits that no client can wear out. */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { createServer, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { AppError } from '../core/model/errors.ts'

/** A client that sends its request slowly is cut off, and so is one that says nothing. */
const limits: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 2000,
  maxHeaderSize: 16 * 1024,
  requireHostHeader: false,
}

/** 256 in all. The socket has its own share, so that a flood on the port does not shut out the command line. */
const most = { tcp: 192, socket: 64 }

export interface Tls {
  readonly cert: Buffer
  readonly key: Buffer
}

export function makeTcpServer(tls: Tls | undefined): Server {
  const server = tls ? makeTlsServer(tls) : createServer(limits)
  server.maxConnections = most.tcp
  return server
}

function makeTlsServer(tls: Tls): Server {
  try {
    return createTlsServer({ ...limits, ...tls })
  } catch (cause) {
    throw new AppError('wrongUsage', 'The certificate and its key cannot be used.', {
      hint: 'Both have to be PEM files, and to belong together.',
      cause,
    })
  }
}

export function makeSocketServer(): Server {
  const server = createServer(limits)
  server.maxConnections = most.socket
  return server
}

/** Listens on exactly that address. Answers the port, which is a free one when 0 is asked for. */
export async function listenOn(server: Server, host: string, port: number): Promise<number> {
  try {
    await listening(server, () => server.listen({ host, port, exclusive: true }))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code !== 'EADDRINUSE') throw cause
    throw new AppError('failed', `Another program listens on ${host}, port ${port}.`, {
      hint: 'offshoot serve --port 0 takes any free port.',
      cause,
    })
  }
  return (server.address() as AddressInfo).port
}

/** Listens on a socket in a folder of ours. A socket that a dead daemon left there goes first; anything else stays. */
export async function listenAt(server: Server, socket: string): Promise<void> {
  const found = lstatSync(socket, { throwIfNoEntry: false })
  if (found && !found.isSocket())
    throw new AppError('stateUnusable', `In the place of the daemon’s socket is something else.`, {
      path: socket,
      hint: `Move it away: ${socket}`,
    })
  if (found) unlinkSync(socket)
  await listening(server, () => server.listen(socket))
  chmodSync(socket, 0o600)
}

function listening(server: Server, listen: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.once('listening', () => {
      server.off('error', reject)
      resolve()
    })
    listen()
  })
}
