/**
 * A bridge for agents whose hooks are programs: a small hook program asks us over a socket and waits for the answer
 * (docs/adr/0036-hooks-that-nobody-can-edit.md).
 */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import path from 'node:path'
import { shellWord } from '../core/base/shell-quote.ts'
import type { Cell } from '../core/ports/sandbox.ts'
import type { Push } from './events.ts'

export interface Bridge {
  /** The path of the socket as processes in the cell see it. Only our user can reach it. */
  readonly socket: string
  /** A command line for the shell in the cell: sends its stdin to us and prints our answer. */
  readonly command: string
  /** The variable with the key of this run, without which nobody is answered. */
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** The variable that holds the key of the bridge. Agents drop variables from hooks that are called keys or secrets. */
export const bridgeVariable = 'OFFSHOOT_INTERNAL_BRIDGE'

/** In the command line itself, so that there is no file that an agent could edit or delete. It ends with 0 only if answered. */
const hook = `
process.exitCode = 1
let body = ""
const hear = (answer) => {
  let said = ""
  answer.setEncoding("utf8").on("data", (text) => (said += text)).on("error", () => {})
  answer.on("end", () => {
    if (!answer.complete || answer.statusCode !== 200) return
    process.exitCode = 0
    process.stdout.write(said)
  })
}
const ask = () => {
  const headers = { authorization: process.env.${bridgeVariable} }
  const options = { socketPath: process.argv[1], method: "POST", headers }
  require("node:http").request(options, hear).on("error", () => {}).end(body)
}
process.stdin.setEncoding("utf8").on("data", (text) => (body += text)).on("end", ask)
`

/** However the hook ends without an answer, the call is denied: 2 says so, and agents want to hear a reason with it. */
const denial = '{ echo "offshoot did not answer, so the call is denied" >&2; exit 2; }'

/** Hook inputs hold the content of files that an agent writes. */
const largest = 16 * 1024 * 1024

/** Opens a bridge for the agent in that cell. The cell removes its folder. */
export async function openBridge(
  cell: Pick<Cell, 'node' | 'inside' | 'makeSocketFolder'>,
  push: Push,
  answer: (question: unknown) => Promise<object>,
): Promise<Bridge> {
  const socket = path.join(await cell.makeSocketFolder(), 's')
  const key = randomBytes(16).toString('hex')
  const server = createServer((request, response) => {
    respond(request, response, key, answer).catch((error: unknown) => {
      push({
        type: 'malformed',
        reason: `to a hook: ${error instanceof Error ? error.message : String(error)}`,
      })
      response.writeHead(400, { connection: 'close' }).end()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject).listen(socket, resolve)
  })
  const words = [cell.node, '-e', hook, cell.inside(socket)].map(shellWord).join(' ')
  return {
    socket: cell.inside(socket),
    command: `${words} || ${denial}`,
    env: { [bridgeVariable]: key },
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** Throws instead of answering what is no question of this run. */
async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  key: string,
  answer: (question: unknown) => Promise<object>,
): Promise<void> {
  if (request.headers.authorization !== key) throw new Error('a question without the key of the run')
  const answered = await answer(JSON.parse(await readBody(request)))
  response.end(JSON.stringify(answered))
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > largest) throw new Error(`a question of more than ${largest} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
