/** For agents whose hooks are programs: a small one that asks us over a socket, and waits for the answer. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import os from 'node:os'
import path from 'node:path'

export interface Bridge {
  /** Only we and our user can reach it. */
  readonly socket: string
  /** A command line that hands its input over and prints the answer. */
  readonly command: string
  close(): Promise<void>
}

/** Without an answer it says no: nothing runs that nobody watches. */
const hook = `
import http from 'node:http'
let body = ''
for await (const chunk of process.stdin) body += chunk
const options = { socketPath: process.argv[2], method: 'POST' }
const fail = () => {
  process.stderr.write('offshoot is not there any more')
  process.exitCode = 2
}
http
  .request(options, (answer) => answer.on('error', fail).pipe(process.stdout))
  .on('error', fail)
  .end(body)
`

/** A socket's path may have about a hundred characters: the folder of the run is too deep for it. */
export async function openBridge(
  answer: (question: Record<string, unknown>) => Promise<object>,
): Promise<Bridge> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'offshoot-'))
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
    socket,
    command: [process.execPath, program, socket].map((word) => `'${word}'`).join(' '),
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
