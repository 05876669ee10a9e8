/** `POST /mcp`: MCP over HTTP, with the rights of the token; nothing is kept between two requests (docs/adr/0063-the-mcp-door.md). */
import { type Call, openDoor } from '../api/call.ts'
import { AppError } from '../core/model/errors.ts'
import type { Ports } from '../core/ports/index.ts'
import type { Way } from './http.ts'

export function openMcpWay(ports: Ports, version: string): Way {
  return async ({ allowed: { credential, path }, body, signal, headers, entrance }) => {
    if (!credential) throw new AppError('failed', 'Nobody asked.')
    const { caller } = credential
    const door = openDoor(ports, () => caller)
    // Not the request is cancelled but the call, which is then answered: a client that is still there learns that we stop.
    const call: Call = (action, input, cancel, emit) =>
      door(action, input, cancel ? AbortSignal.any([cancel, signal]) : signal, emit)
    const { openMcp } = await import('../mcp/index.ts')
    const request = new Request(new URL(path, `http://${entrance.host}`), {
      method: 'POST',
      headers: Object.entries(headers).flatMap(([name, [value = ''] = []]): [string, string][] =>
        isRead(name) ? [[name, value]] : [],
      ),
      body: JSON.stringify(body),
    })
    const answer = await openMcp({ call, caller, version }).fetch(request)
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: answer.body ?? '' }
  }
}

/** The headers that the protocol reads; the token is none of its business. */
const isRead = (name: string) => name === 'accept' || name === 'content-type' || name.startsWith('mcp-')
