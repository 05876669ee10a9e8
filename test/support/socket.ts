/** A plain client of the daemon's WebSocket: it sends what a test says, and keeps all that it hears. */
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import { outgoingSchema } from '../../src/protocol/envelope.ts'
import type { TestDaemon } from './daemon.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- whatever the daemon sent
type Frame = any

export interface TestSocket {
  readonly ws: WebSocket
  /** Everything that was heard, in order. */
  readonly frames: Frame[]
  /** Sends a request and resolves to its answer, a response or an error. */
  request(action: string, payload?: object, id?: string): Promise<Frame>
  /** Sends a request without waiting, and answers its id. */
  send(action: string, payload?: object, id?: string): string
  /** The answer to a request that was sent, once it is there. */
  answer(id: string): Promise<Frame>
  /** The first frame that fits, heard or yet to come. */
  heard(fits: (frame: Frame) => boolean): Promise<Frame>
  /** The code that the connection was closed with. */
  readonly closed: Promise<number>
}

export interface SocketInput {
  readonly token?: string | undefined
  /** More headers, or others. */
  readonly headers?: Readonly<Record<string, string>>
  readonly protocols?: string[]
  /** Over the unix socket instead of the port. */
  readonly overSocket?: boolean
}

let count = 0

/** Opens a connection, and checks every frame by its schema. Rejects with the status when the daemon refuses. */
export async function openTestSocket(
  daemon: Pick<TestDaemon, 'port' | 'socket' | 'token'>,
  { token = daemon.token, headers = {}, protocols = [], overSocket }: SocketInput = {},
): Promise<TestSocket> {
  const address = overSocket ? 'ws://localhost/ws' : `ws://127.0.0.1:${daemon.port}/ws`
  const ws = new WebSocket(address, protocols, {
    headers: { ...(token !== '' && { authorization: `Bearer ${token}` }), ...headers },
    ...(overSocket && { createConnection: () => connect(daemon.socket) }),
  })
  const frames: Frame[] = []
  const waiting = new Set<() => void>()
  ws.on('message', (data: Buffer) => {
    const frame: unknown = JSON.parse(data.toString('utf8'))
    outgoingSchema.parse(frame)
    frames.push(frame)
    for (const look of waiting) look()
  })
  const closed = new Promise<number>((resolve) => ws.once('close', resolve))
  const heard: TestSocket['heard'] = (fits) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = frames.find(fits)
        if (!found) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
      void closed.then((code) => {
        if (waiting.delete(look)) reject(new Error(`closed with ${code}`))
      })
    })
  const send: TestSocket['send'] = (action, payload = {}, id = `test-${process.pid}-${++count}`) => {
    ws.send(JSON.stringify({ id, type: 'request', action, payload }))
    return id
  }
  const answer = (id: string) => heard((frame) => frame.id === id)
  await new Promise<void>((resolve, reject) => {
    ws.once('open', resolve)
    ws.once('unexpected-response', (_, response) => {
      reject(new Error(String(response.statusCode)))
      response.resume()
      ws.on('error', () => {}).terminate()
    })
    ws.once('error', reject)
  })
  ws.on('error', () => {})
  const request: TestSocket['request'] = (action, payload, id) => answer(send(action, payload, id))
  return { ws, frames, request, send, answer, heard, closed }
}
