/** Plays command lines for the `offshoot` command, over its socket (docs/adr/0067-a-command-line-played-by-the-daemon.md). */
import type { Duplex } from 'node:stream'
import type { Asked, Frame, Reply } from '../client/served.ts'
import { AppError } from '../core/model/errors.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { UnderWay } from './under-way.ts'
import { type Accept, refusal } from './upgrade.ts'

/** What a line prints and asks. */
export interface Talk {
  send(frame: Extract<Frame, { out: string } | { err: string }>): void
  /** The answer of whoever typed the line. */
  ask(question: string): Promise<string>
}

/** Plays a line and answers its exit code. */
type Play = (talk: Talk, signal: AbortSignal) => Promise<number>

/** How to play a line; undefined when only the command itself can do it. */
export type FindPlay = (asked: Asked) => Promise<Play | undefined>

interface Needs {
  readonly findPlay: FindPlay
  readonly underWay: UnderWay
  readonly log: Log
  readonly metrics: Metrics
}

/** In bytes of one line of the command. */
const largest = 1024 * 1024

export function openLines({ findPlay, underWay, log, metrics }: Needs): Accept {
  return async (request, connection, head) => {
    const begun = performance.now()
    const lines = linesOf(connection, head)
    const isOurs = request.headers.upgrade === protocol
    const asked = isOurs ? readAsked((await lines.next()).value) : undefined
    const play = asked && (await findPlay(asked))
    metrics.count('offshoot_lines_total', 'Lines that the command handed over.', {
      played: String(Boolean(play)),
    })
    if (!play) return void connection.end(refusal(asked ? 409 : 400))
    connection.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${protocol}\r\n\r\n`,
    )
    const cancel = new AbortController()
    const leave = (why: string) => cancel.abort(new AppError('cancelled', why))
    connection.on('close', () => leave('The command has ended.'))
    const send = (frame: Frame) =>
      void (connection.writable && connection.write(`${JSON.stringify(frame)}\n`))
    const hearSaid = hear(lines, () => leave('Cancelled.'))
    const ask = (question: string) => {
      send({ ask: question })
      return hearSaid()
    }
    const exit = await underWay.run(undefined, (stop) =>
      play({ send, ask }, AbortSignal.any([stop, cancel.signal])),
    )
    const ms = Math.round(performance.now() - begun)
    log.info({ command: asked.argv[0] ?? 'status', exit, ms }, 'line')
    send({ exit })
    connection.end()
  }
}

const protocol = 'offshoot-command'

async function* linesOf(connection: Duplex, head: Buffer): AsyncGenerator<string, undefined> {
  let held = head
  const chunks = (connection as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  for (;;) {
    for (let end = held.indexOf('\n'); end !== -1; end = held.indexOf('\n')) {
      yield held.toString('utf8', 0, end)
      held = held.subarray(end + 1)
    }
    if (held.length > largest) return undefined
    const chunk: IteratorResult<Buffer> = await chunks.next()
    if (chunk.done) return undefined
    held = Buffer.concat([held, chunk.value])
  }
}

/** Hears what the command says while its line is played; answers a function that waits for the next answer. */
function hear(lines: AsyncGenerator<string, undefined>, interrupt: () => void): () => Promise<string> {
  let waiting = Promise.withResolvers<string>()
  const listen = async () => {
    for await (const line of lines) {
      const reply = JSON.parse(line) as Reply
      if ('interrupt' in reply) interrupt()
      else waiting.resolve(String(reply.said))
    }
  }
  // The connection ends with the line; what is wrong with it, its close tells.
  listen().catch(() => interrupt())
  return async () => {
    const said = await waiting.promise
    waiting = Promise.withResolvers()
    return said
  }
}

function readAsked(line: string | undefined): Asked | undefined {
  try {
    const asked = JSON.parse(line ?? '') as Asked
    const isWhole =
      Array.isArray(asked.argv) &&
      asked.argv.every((word) => typeof word === 'string') &&
      typeof asked.cwd === 'string' &&
      [asked.env, asked.stdout, asked.stderr].every((part) => typeof part === 'object' && part !== null)
    return isWhole ? asked : undefined
  } catch {
    return undefined
  }
}
