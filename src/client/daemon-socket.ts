/** Connects to the running daemon over its unix socket, for `openSocket` in a program on Node. */
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import { AppError } from '../core/model/errors.ts'
import { findDaemon } from './daemon.ts'
import type { Channel } from './socket.ts'

/** Finds the daemon anew each time, and sends its token only after it has proven that it is the one. */
export async function connectToDaemon(home: string): Promise<Channel> {
  const daemon = await findDaemon(home)
  if (!daemon) throw new AppError('notFound', 'No daemon runs.', { hint: 'Start it: offshoot serve' })
  const { socket, token } = daemon
  const made = new WebSocket('ws://localhost/ws', {
    headers: { authorization: `Bearer ${token}` },
    createConnection: () => connect(socket),
    perMessageDeflate: false,
  })
  return made as Channel
}
