/**
 * Has a running daemon play the command line, and prints what it answers. It loads little, because it runs before every command
 * while a daemon runs (docs/adr/0067-a-command-line-played-by-the-daemon.md).
 */
import { lstatSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { isatty } from 'node:tty'
import type { DaemonNote } from '../client/daemon.ts'
import {
  type Asked,
  comparedVariables,
  type Frame,
  isLooking,
  isPaged,
  isServed,
  type Reply,
  type Screen,
} from '../client/served.ts'
import { type Listen, onSignals } from './cancel.ts'
import { write } from './stdout.ts'
import { readVersion } from './version.ts'

interface Ground {
  /** The state folder. */
  readonly home: string
  /** Whether a folder is the user's alone, and nobody else can put another into its place. */
  isOurs(folder: string): boolean
}

/** Answers the exit code; undefined when the command has to do it by itself, and nothing has happened yet. */
export async function playByDaemon(
  argv: readonly string[],
  ground: Ground,
  listen: Listen | undefined,
): Promise<number | undefined> {
  const { env } = process
  if (!isServed(argv, env)) return undefined
  const stdout = screenOf(1)
  if (stdout.isTerminal && isPaged(argv)) return undefined
  const note = readNote(ground)
  const version = readVersion()
  if (!note || note.version !== version) return undefined
  const stderr = screenOf(2)
  const names = [...comparedVariables, 'NO_COLOR']
  const given = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))
  const asked: Asked = {
    argv,
    cwd: process.cwd(),
    version,
    env: Object.fromEntries(given),
    stdout,
    stderr,
    canAsk: stderr.isTerminal && isatty(0),
  }
  return talk(note, asked, listen)
}

function screenOf(descriptor: 1 | 2): Screen {
  if (!isatty(descriptor)) return { isTerminal: false }
  const { columns, rows } = descriptor === 1 ? process.stdout : process.stderr
  return { isTerminal: true, columns: columns || undefined, rows: rows || undefined }
}

/**
 * Reads daemon.json. Only in folders that are the user's alone is its socket known to be the daemon's, without a proof, which
 * would take longer than the answer.
 */
function readNote({ home, isOurs }: Ground): DaemonNote | undefined {
  try {
    const file = path.join(home, 'daemon.json')
    if (!lstatSync(file).isFile() || !isOurs(home)) return undefined
    const note = JSON.parse(readFileSync(file, 'utf8')) as DaemonNote
    const folder = path.dirname(note.socket)
    return folder === home || isOurs(folder) ? note : undefined
  } catch {
    return undefined
  }
}

function talk(note: DaemonNote, asked: Asked, listen: Listen | undefined): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect(note.socket)
    const send = (reply: Reply) => void socket.write(`${JSON.stringify(reply)}\n`)
    const leave = new AbortController()
    let isAccepted = false
    let isBegun = false
    let exit: number | undefined

    const take = (frame: Frame) => {
      if ('exit' in frame) {
        exit = frame.exit
        return
      }
      isBegun = true
      if ('out' in frame) write(frame.out)
      else if ('err' in frame) process.stderr.write(frame.err)
      else answer(frame.ask, leave.signal, send)
    }
    const takeHead = (head: string) => {
      isAccepted = head.startsWith('HTTP/1.1 101 ')
      if (!isAccepted) {
        socket.destroy()
        return
      }
      onSignals(listen, () => {
        leave.abort()
        send({ interrupt: true })
      })
    }
    readParts(socket, takeHead, (line) => take(JSON.parse(line) as Frame))
    socket.on('connect', () => {
      const head = ['GET /command HTTP/1.1', 'host: localhost', `authorization: Bearer ${note.token}`]
      const upgrade = ['connection: Upgrade', 'upgrade: offshoot-command', '', '']
      socket.write(`${[...head, ...upgrade].join('\r\n')}${JSON.stringify(asked)}\n`)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      leave.abort()
      // What only looks can be asked again, unless half of it is printed.
      const isOver = exit !== undefined || !isAccepted || (isLooking(asked.argv) && !isBegun)
      resolve(isOver ? exit : orphaned(asked))
    })
  })
}

/** Cuts what comes into the head of the answer and the lines after it. */
function readParts(socket: Socket, onHead: (head: string) => void, onLine: (line: string) => void): void {
  let held: Buffer = Buffer.alloc(0)
  let hasHead = false
  socket.on('data', (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    for (;;) {
      const end = hasHead ? held.indexOf('\n') : held.indexOf('\r\n\r\n')
      if (end === -1) return
      const text = held.toString('utf8', 0, end)
      held = held.subarray(end + (hasHead ? 1 : 4))
      if (hasHead) onLine(text)
      else onHead(text)
      hasHead = true
    }
  })
}

function answer(question: string, signal: AbortSignal, send: (reply: Reply) => void): void {
  import('./ask.ts')
    .then(({ ask }) => ask(question, signal))
    .then(
      (said = '') => send({ said }),
      () => send({ interrupt: true }),
    )
}

/** The daemon died in the middle of a verb. To repeat it here could do it twice. */
async function orphaned({ argv }: Asked): Promise<number> {
  const { AppError } = await import('../core/model/errors.ts')
  const error = new AppError('failed', 'The daemon ended in the middle of this.', {
    hint: 'The next command finishes it or takes it back. See what came of it: offshoot list --all',
  })
  if (argv.includes('--json')) write(`${JSON.stringify({ ok: false, error: error.toJSON() })}\n`)
  else process.stderr.write(`error ${error.code}: ${error.message}\n  hint: ${error.hint}\n`)
  return error.exitCode
}
