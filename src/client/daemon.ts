/** Finds the running daemon by daemon.json, has it prove that it is the one, and talks to it over its socket. */
import { randomBytes } from 'node:crypto'
import { lstatSync, readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { AppError } from '../core/model/errors.ts'
import { daemonFile } from '../core/model/layout.ts'
import { isProof } from './proof.ts'

/** The content of daemon.json. */
export interface DaemonNote {
  readonly pid: number
  readonly url: string
  readonly socket: string
  readonly token: string
  readonly startedAt: string
  readonly version: string
}

interface Reply {
  readonly status: number
  readonly body: unknown
}

export interface Daemon extends DaemonNote {
  /** Sends a request with the token. */
  post(path: string, body: object, signal?: AbortSignal): Promise<Reply>
}

/** How long the daemon may take for its proof. */
const patienceMs = 5000

/** The daemon that runs, proven; undefined when there is none. Whoever else answers there gets no token. */
export async function findDaemon(home: string): Promise<Daemon | undefined> {
  const note = readNote(home)
  if (!note) return undefined
  const nonce = randomBytes(24).toString('base64url')
  const reply = await prove(note.socket, nonce).catch(() => undefined)
  const { proof } = (reply?.body ?? {}) as { proof?: unknown }
  if (!isProof(proof, note.token, note.socket, nonce)) return undefined
  return {
    ...note,
    post: (path, body, signal) =>
      post(note.socket, path, body, { authorization: `Bearer ${note.token}` }, signal),
  }
}

/** Reads daemon.json, if it is a plain file of ours. */
function readNote(home: string): DaemonNote | undefined {
  const file = daemonFile(home)
  try {
    const found = lstatSync(file)
    if (!found.isFile() || found.uid !== (process.geteuid?.() ?? found.uid)) return undefined
    return JSON.parse(readFileSync(file, 'utf8')) as DaemonNote
  } catch {
    return undefined
  }
}

/** A proof is far shorter; whoever sends more is not the daemon. */
const longestProof = 4096

function prove(socket: string, nonce: string): Promise<Reply> {
  return post(socket, '/prove', { nonce }, {}, AbortSignal.timeout(patienceMs), longestProof)
}

/** The socket is not for browsers, so that every client of it sends the same host. */
const host = 'localhost'

function post(
  socketPath: string,
  path: string,
  body: object,
  more: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
  longest = Number.POSITIVE_INFINITY,
): Promise<Reply> {
  const text = JSON.stringify(body)
  const headers = {
    host,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...more,
  }
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, method: 'POST', headers, agent: false, signal }, (answer) => {
      readReply(answer, longest).then(resolve, reject)
    })
    sent.on('error', reject).end(text)
  })
}

async function readReply(answer: IncomingMessage, longest: number): Promise<Reply> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > longest) throw new AppError('failed', 'The answer is longer than that of a daemon.')
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  const status = answer.statusCode ?? 0
  if (text === '') return { status, body: undefined }
  try {
    return { status, body: JSON.parse(text) }
  } catch (cause) {
    throw new AppError('failed', 'The daemon did not answer with JSON.', { cause })
  }
}
