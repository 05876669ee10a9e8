/** A real daemon, as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { daemonFile } from '../../src/core/model/layout.ts'
import type { TestRepo } from './repo.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The text as JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the daemon answered
  readonly json: any
}

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string | Buffer
  /** Over the socket instead of the port. */
  readonly overSocket?: boolean
  readonly signal?: AbortSignal
}

export interface TestDaemon {
  readonly child: ChildProcess
  readonly url: string
  readonly port: number
  readonly socket: string
  readonly token: string
  /** What it wrote to stderr so far. */
  said(): string
  /** Sends exactly these headers; only `Host` is added if it is missing. */
  send(target: string, sent?: Sent): Promise<Reply>
  /** Calls an action with the token of daemon.json, or another. */
  call(
    action: string,
    input: object,
    more?: { token?: string; key?: string; signal?: AbortSignal },
  ): Promise<Reply>
  /** Waits for its end, and answers its exit code and what it printed last. */
  ended(): Promise<{ code: number | null; last: unknown }>
  /** Ends it as a user would. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; last: unknown }>
}

/** Starts `offshoot serve` in a state folder, on any port. The caller stops it. */
export async function startDaemon(
  repo: Pick<TestRepo, 'dir' | 'env'>,
  ...args: string[]
): Promise<TestDaemon> {
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0', '--json', ...args], {
    cwd: repo.dir,
    env: repo.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  let stderr = ''
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const lines: string[] = []
  const first = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      resolve(line)
    })
    void ended.then((code) => reject(new Error(`serve ended with ${code}: ${stderr}${lines.join('\n')}`)))
  })
  const { url, socket, event, error } = JSON.parse(first) as Record<string, string>
  if (event !== 'listening') throw new Error(`serve said ${first} ${error ?? ''}`)
  const { token } = JSON.parse(readFileSync(daemonFile(repo.env.OFFSHOOT_HOME ?? ''), 'utf8')) as {
    token: string
  }
  const port = Number(new URL(url ?? '').port)
  const daemon: TestDaemon = {
    child,
    url: url ?? '',
    port,
    socket: socket ?? '',
    token,
    said: () => stderr,
    send: (target, sent = {}) => send(sent.overSocket ? { socketPath: socket } : { port }, target, sent),
    call(action, input, { token: other = token, key, signal } = {}) {
      const headers = {
        authorization: `Bearer ${other}`,
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
      }
      return daemon.send(`/api/${action}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(input),
        ...(signal && { signal }),
      })
    },
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return daemon.ended()
    },
    async ended() {
      const code = await ended
      const last = lines.at(-1)
      return { code, last: last === undefined ? undefined : JSON.parse(last) }
    },
  }
  return daemon
}

function send(
  where: { readonly port?: number; readonly socketPath?: string | undefined },
  target: string,
  { method = 'GET', headers = {}, body, signal }: Sent,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { socketPath, port } = where
    const at = socketPath === undefined ? { host: '127.0.0.1', port } : { socketPath }
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const options = { ...at, path: target, method, headers: { ...length, ...headers }, agent: false, signal }
    const sent = request(options, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        const json: unknown = text.startsWith('{') ? JSON.parse(text) : undefined
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, json })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
