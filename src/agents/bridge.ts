/**
 * A bridge for agents whose hooks are programs: a small hook program asks us over a socket and waits for the answer.
 */
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import type { Cell } from '../core/ports/sandbox.ts'

export interface Bridge {
  /** The path of the socket as processes in the cell see it. Outside of the cell only our user can reach it. */
  readonly socket: string
  /** A command line for the shell in the cell: sends its stdin to us and prints our answer. */
  readonly command: string
  close(): Promise<void>
}

/** Without an answer the hook refuses: no tool runs that nobody watches. */
const hook = `
import http from 'node:http'
let body = ''
for await (const chunk of process.stdin) body += chunk
const options = { socketPath: process.argv[2], method: 'POST' }
const fail = () => {
  process.stderr.write('offshoot is no longer running')
  process.exitCode = 2
}
http
  .request(options, (answer) => answer.on('error', fail).pipe(process.stdout))
  .on('error', fail)
  .end(body)
`

/** Opens a bridge for the agent in that cell. The cell removes its folder. */
export async function openBridge(
  cell: Pick<Cell, 'node' | 'inside' | 'makeSocketFolder'>,
  answer: (question: Record<string, unknown>) => Promise<object>,
): Promise<Bridge> {
  const folder = await cell.makeSocketFolder()
  const socket = path.join(folder, 's')
  const program = path.join(folder, 'hook.mjs')
  await writeFile(program, hook)
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const answered = answer(JSON.parse(text || '{}') as Record<string, unknown>)
      answered.then(
        (value) => response.end(JSON.stringify(value)),
        () => response.destroy(),
      )
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject).listen(socket, resolve)
  })
  return {
    socket: cell.inside(socket),
    command: [cell.node, cell.inside(program), cell.inside(socket)].map((word) => `'${word}'`).join(' '),
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
