/** What a page, a program or another user of the machine tries against the daemon, and that it gets them nothing. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, request } from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { socketFolder } from '../../src/compose/daemon.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/processes.ts'
import { offshoot, tempFolder, type TestRepo, testRepo } from '../support/repo.ts'

let repo: TestRepo
let daemon: TestDaemon
let look: { token: string; id: string }
let revoked: { token: string; id: string }
let pageKey: string

const table: [attack: string, answer: string][] = []
const note = (attack: string, answer: string | number) => void table.push([attack, String(answer)])

beforeAll(async () => {
  repo = testRepo({ 'a.txt': 'one\n' }, mkdtempSync(path.join(os.tmpdir(), 'offshoot-test-')))
  daemon = await startDaemon(repo)
  const create = async (scope: string) =>
    (await offshoot(repo, 'token', 'create', '--scope', scope, '--json')).json
  look = await create('look')
  revoked = await create('admin')
  await offshoot(repo, 'token', 'revoke', revoked.id)
  const { json } = await post('/page/code', { authorization: `Bearer ${daemon.token}` }, '{}')
  pageKey = (await post('/page/key', { origin: daemon.url }, JSON.stringify({ code: json.code }))).json.key
  await offshoot(repo, 'start', 'T1')
})

afterAll(async () => {
  await daemon.stop()
  rmSync(repo.home, { recursive: true, force: true })
  const width = Math.max(...table.map(([attack]) => attack.length))
  console.log(table.map(([attack, answer]) => `${attack.padEnd(width)}  ${answer}`).join('\n'))
})

function post(target: string, headers: Record<string, string | string[]>, body?: string) {
  return daemon.send(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body ?? JSON.stringify({ repo: repo.dir }),
  })
}

const stillAnswers = async () => {
  const { status } = await daemon.call('task.list', { repo: repo.dir })
  expect(status).toBe(200)
}
const isOpen = async () =>
  (await daemon.call('task.list', { repo: repo.dir })).json.tasks.some(
    (task: { id: string }) => task.id === 'T1',
  )

/** Sends bytes as they are, and answers the whole reply when the other side has hung up. */
function raw(
  text: string,
  at: net.NetConnectOpts = { host: '127.0.0.1', port: daemon.port },
): Promise<string> {
  return new Promise((resolve) => {
    let said = ''
    const connection = net.connect(at, () => connection.write(text))
    connection.on('data', (chunk) => (said += chunk.toString('latin1')))
    connection.on('error', () => {})
    connection.on('close', () => resolve(said))
  })
}
const statusIn = (reply: string) => /^HTTP\/1\.1 (\d{3})/.exec(reply)?.[1] ?? 'hung up'

const bearer = () => ({ authorization: `Bearer ${daemon.token}` })
const ownPage = () => ({
  origin: daemon.url,
  'sec-fetch-site': 'same-origin',
  authorization: `Offshoot ${pageKey}`,
})

describe('D2: of requests that are not ours', () => {
  /** The headers of each attack, on top of a JSON body that rejects a task. */
  const attacks: [string, number, () => Record<string, string | string[]>][] = [
    ['a foreign Host', 403, () => ({ ...bearer(), host: `evil.example:${daemon.port}` })],
    ['localhost as Host', 403, () => ({ ...bearer(), host: `localhost:${daemon.port}` })],
    ['a foreign Origin', 403, () => ({ ...bearer(), origin: 'https://evil.example' })],
    [
      'the Origin of another port',
      403,
      () => ({ ...ownPage(), origin: `http://127.0.0.1:${daemon.port + 1}` }),
    ],
    ['the Origin null', 403, () => ({ ...ownPage(), origin: 'null' })],
    ['the key of the page without an Origin', 403, () => ({ authorization: `Offshoot ${pageKey}` })],
    ['the key of the page as a token', 403, () => ({ authorization: `Bearer ${pageKey}` })],
    ['Sec-Fetch-Site: cross-site', 403, () => ({ ...ownPage(), 'sec-fetch-site': 'cross-site' })],
    ['Sec-Fetch-Site: same-site', 403, () => ({ ...ownPage(), 'sec-fetch-site': 'same-site' })],
    ['a text/plain body', 403, () => ({ ...bearer(), 'content-type': 'text/plain' })],
    ['a form', 403, () => ({ ...bearer(), 'content-type': 'application/x-www-form-urlencoded' })],
    ['no token', 401, () => ({})],
    ['a wrong token', 401, () => ({ authorization: `Bearer offshoot_zzzzzzzz_${'x'.repeat(43)}` })],
    ['a revoked token', 401, () => ({ authorization: `Bearer ${revoked.token}` })],
    ['a token that may only look', 403, () => ({ authorization: `Bearer ${look.token}` })],
    ['a cookie alone', 401, () => ({ origin: daemon.url, cookie: `key=${pageKey}; token=${daemon.token}` })],
    [
      'a password',
      401,
      () => ({ authorization: `Basic ${Buffer.from(`x:${daemon.token}`).toString('base64')}` }),
    ],
  ]

  test.each(attacks)('D2: %s is %i, and nothing happens', async (name, status, headers) => {
    const reply = await post('/api/task.reject', headers(), JSON.stringify({ repo: repo.dir, task: 'T1' }))
    note(name, reply.status)
    expect(reply.status).toBe(status)
    if (name !== 'a token that may only look') expect(reply.text).toBe('')
    expect(Object.keys(reply.headers).filter((header) => header.startsWith('access-control'))).toEqual([])
    expect(await isOpen()).toBe(true)
  })

  test('D2: a token in the address opens nothing, and is not logged', async () => {
    const { status } = await post(`/api/task.list?token=${daemon.token}&key=${pageKey}`, {})
    note('a token in the address', status)
    expect(status).toBe(401)
    const log = readFileSync(path.join(repo.home, 'state/daemon.log'), 'utf8')
    for (const secret of [daemon.token, pageKey]) expect(log).not.toContain(secret.slice(-43))
  })

  test('D2: a preflight gets no header of CORS', async () => {
    const asks = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    const reply = await daemon.send('/api/task.reject', { method: 'OPTIONS', headers: asks })
    note('a preflight', reply.status)
    expect(reply).toMatchObject({ status: 403, text: '' })
    expect(Object.keys(reply.headers).filter((header) => header.startsWith('access-control'))).toEqual([])
  })

  /** The head of a request, as bytes; each has the right token. */
  const heads: [string, string, () => string][] = [
    ['two Hosts', '403', () => `GET /metrics HTTP/1.1\r\nHost: ${host()}\r\nHost: evil.example\r\n`],
    ['two tokens', '403', () => `GET /metrics HTTP/1.1\r\nHost: ${host()}\r\nAuthorization: Bearer x\r\n`],
    ['no Host', '403', () => 'GET /metrics HTTP/1.1\r\n'],
    ['HTTP/1.0 without a Host', '403', () => 'GET /metrics HTTP/1.0\r\n'],
    [
      'a target in absolute form',
      '403',
      () => `GET http://${host()}/metrics HTTP/1.1\r\nHost: ${host()}\r\n`,
    ],
    [
      'a target that names another machine',
      '403',
      () => `GET http://evil.example/metrics HTTP/1.1\r\nHost: ${host()}\r\n`,
    ],
    ['a target with two slashes', '403', () => `GET //metrics HTTP/1.1\r\nHost: ${host()}\r\n`],
    [
      'a way out of the folder of files',
      '404',
      () => `GET /../../etc/passwd HTTP/1.1\r\nHost: ${host()}\r\n`,
    ],
    ['an encoded way out', '404', () => `GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: ${host()}\r\n`],
    ['a tunnel', 'hung up', () => `CONNECT evil.example:80 HTTP/1.1\r\nHost: ${host()}\r\n`],
    [
      'a WebSocket elsewhere',
      '404',
      () => `GET /metrics HTTP/1.1\r\nHost: ${host()}\r\nUpgrade: websocket\r\n`,
    ],
    [
      'a WebSocket of another origin',
      '403',
      () => `GET /ws HTTP/1.1\r\nHost: ${host()}\r\nOrigin: http://evil.example\r\nUpgrade: websocket\r\n`,
    ],
    [
      'both lengths of a body',
      'hung up',
      () => `POST /prove HTTP/1.1\r\nHost: ${host()}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n`,
    ],
    [
      'headers of 1 MB',
      'hung up',
      () => `GET /healthz HTTP/1.1\r\nHost: ${host()}\r\nX: ${'x'.repeat(1024 * 1024)}\r\n`,
    ],
    ['no HTTP at all', 'hung up', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ]
  const host = () => `127.0.0.1:${daemon.port}`

  test.each(heads)('D2: %s: %s', async (name, expected, head) => {
    const upgrades = name.includes('WebSocket') ? 'Connection: Upgrade' : 'Connection: close'
    const reply = await raw(`${head()}${upgrades}\r\nAuthorization: Bearer ${daemon.token}\r\n\r\n`)
    note(name, statusIn(reply))
    expect(statusIn(reply)).toBe(expected)
    expect(reply).not.toMatch(/root:|process_uptime/)
    await stillAnswers()
  })

  test('D2: health, and a proof that is asked for without a token, tell nothing', async () => {
    const { text } = await daemon.send('/healthz')
    const { json } = await post('/prove', {}, JSON.stringify({ nonce: 'n'.repeat(32) }))
    expect(text + json.proof).not.toContain(daemon.token.slice(-43))
    for (const nonce of ['', 'short', 7, 'x'.repeat(200), 'a\nb'.repeat(10)])
      expect(await post('/prove', {}, JSON.stringify({ nonce }))).toMatchObject({ status: 400 })
  })
})

/** In megabytes, as the daemon tells it. */
async function memory(): Promise<number> {
  const { text } = await daemon.send('/metrics', { headers: bearer() })
  return Number(/^process_resident_memory_bytes (\d+)$/m.exec(text)?.[1]) / 1024 / 1024
}

describe('D2: of floods', () => {
  test('D2: 100 MB of a body cost the daemon no memory, with a length or without', async () => {
    const before = await memory()
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const upload = (headers: Record<string, string>) =>
      new Promise<string>((resolve) => {
        const sent = request(
          {
            host: '127.0.0.1',
            port: daemon.port,
            path: '/api/task.list',
            method: 'POST',
            agent: false,
            headers: { 'content-type': 'application/json', ...bearer(), ...headers },
          },
          (answer) => resolve(String(answer.resume().statusCode)),
        )
        sent.on('error', () => resolve('hung up'))
        void (async () => {
          for (let n = 0; n < 100 && !sent.destroyed; n++)
            if (!sent.write(piece))
              await Promise.race([once(sent, 'drain'), once(sent, 'close')]).catch(() => {})
          sent.end()
        })()
      })
    for (const [name, headers] of [
      ['100 MB with their length', { 'content-length': String(100 * piece.length) }],
      ['100 MB in chunks', { 'transfer-encoding': 'chunked' }],
    ] as const) {
      const answer = await upload(headers)
      note(name, answer)
      expect(['413', 'hung up']).toContain(answer)
    }
    const grown = (await memory()) - before
    note('memory after both', `${grown.toFixed(0)} MB more`)
    expect(grown).toBeLessThan(40)
  })

  test('D2: clients that send slowly are cut off, and meanwhile the socket answers', async () => {
    const began = performance.now()
    const head = `POST /prove HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\nContent-Type: application/json\r\n`
    const slow = (text: string) =>
      new Promise<number>((resolve) => {
        const connection = net.connect({ host: '127.0.0.1', port: daemon.port }, () => connection.write(text))
        const drip = setInterval(() => connection.write('x'), 500)
        connection.on('error', () => {})
        connection.on('close', () => {
          clearInterval(drip)
          resolve(performance.now() - began)
        })
      })
    const heads = Array.from({ length: 80 }, () => slow(`${head}X: `))
    const bodies = Array.from({ length: 20 }, () => slow(`${head}Content-Length: 4000\r\n\r\n`))
    expect((await offshoot(repo, 'daemon', 'status', '--json')).json).toMatchObject({ running: true })
    const [longestHead, longestBody] = [
      Math.max(...(await Promise.all(heads))),
      Math.max(...(await Promise.all(bodies))),
    ]
    note('80 slow heads', `cut off after ${Math.round(longestHead / 1000)} s`)
    note('20 slow bodies', `cut off after ${Math.round(longestBody / 1000)} s`)
    expect(longestHead).toBeLessThan(16_000)
    expect(longestBody).toBeLessThan(22_000)
    await stillAnswers()
  })

  test('D2: of 10,000 connections few are held at a time, and the daemon goes on', async () => {
    const before = await memory()
    const count = () => readdirSync(`/proc/${daemon.child.pid}/fd`).length
    const idle = count()
    let most = 0
    for (let batch = 0; batch < 20; batch++) {
      const open = new Set<net.Socket>()
      for (let n = 0; n < 500; n++) {
        const connection = net.connect({ host: '127.0.0.1', port: daemon.port })
        open.add(connection.on('error', () => {}).on('close', () => open.delete(connection)))
      }
      await until(() => open.size <= 256, 'the daemon has turned away the rest')
      most = Math.max(most, count() - idle)
      if (batch === 10) expect((await offshoot(repo, 'daemon', 'status', '--json')).json.running).toBe(true)
      await Promise.all([...open].map((connection) => once(connection.destroy(), 'close')))
    }
    await until(() => count() <= idle + 5, 'they are gone')
    await stillAnswers()
    const grown = (await memory()) - before
    note('10,000 connections', `${most} at a time, ${grown.toFixed(0)} MB more`)
    expect(most).toBeGreaterThan(100)
    expect(most).toBeLessThanOrEqual(200)
    expect(grown).toBeLessThan(40)
  })

  test('D2: who guesses tokens is stopped, and whoever has one is not', async () => {
    const statuses = new Map<number, number>()
    const wrong = look.token.slice(0, -43)
    for (let n = 0; n < 1000; n += 50)
      for (const { status } of await Promise.all(
        Array.from({ length: 50 }, (_, m) =>
          daemon.call('task.list', { repo: repo.dir }, { token: wrong + String(n + m).padStart(43, 'x') }),
        ),
      ))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
    note('1,000 guesses at a token', [...statuses].map(([status, n]) => `${n} × ${status}`).join(', '))
    expect(new Set(statuses.keys())).toEqual(new Set([401, 429]))
    // Of those that ran side by side a few more were compared.
    expect(statuses.get(401)).toBeLessThanOrEqual(70)
    expect(await daemon.call('task.list', { repo: repo.dir }, { token: look.token })).toMatchObject({
      status: 429,
    })
    await stillAnswers()
  })

  test('D4: who guesses codes is stopped', async () => {
    const statuses: number[] = []
    for (let n = 0; n < 40; n++)
      statuses.push(
        (await post('/page/key', { origin: daemon.url }, JSON.stringify({ code: `guess${n}` }))).status,
      )
    note('40 guesses at a code', `${statuses.filter((status) => status === 401).length} × 401, then 429`)
    expect(statuses.slice(0, 20).every((status) => status === 401)).toBe(true)
    expect(statuses.slice(20).every((status) => status === 429)).toBe(true)
  })
})

/** Listens in the place of the daemon and keeps all that it is sent. */
async function impostor(
  at: net.ListenOptions,
  answer: (path: string, body: string) => Promise<string> | string,
) {
  const heard: string[] = []
  const server = createServer((asked, response) => {
    let body = ''
    asked.on('data', (chunk) => (body += chunk))
    asked.on('end', () => {
      heard.push(JSON.stringify(asked.headers) + body)
      void Promise.resolve(answer(asked.url ?? '', body)).then((text) => response.end(text))
    })
  })
  server.listen(at)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, heard: () => heard.join('\n') }
}

describe('D8: of impostors', () => {
  const commands = [
    ['daemon', 'status'],
    ['daemon', 'stop'],
  ]
  /** A dead daemon, whose daemon.json and token are still there. */
  async function deadDaemon() {
    const own = testRepo()
    const started = await startDaemon(own)
    await started.stop('SIGKILL')
    return { own, started }
  }

  test('D8: whoever listens on the socket or the port of a dead daemon is sent no token', async () => {
    const { own, started } = await deadDaemon()
    rmSync(started.socket)
    const lies = () => JSON.stringify({ ok: true, proof: 'f'.repeat(64), token: 'x' })
    const onSocket = await impostor({ path: started.socket }, lies)
    const onPort = await impostor({ host: '127.0.0.1', port: started.port }, lies)
    for (const words of commands)
      expect((await offshoot(own, ...words, '--json')).json).not.toMatchObject({ running: true })
    note('an impostor on the socket and the port', 'is asked for a proof, and sent no token')
    expect(onSocket.heard()).toContain('nonce')
    for (const { heard } of [onSocket, onPort]) expect(heard()).not.toContain(started.token.slice(-43))
  })

  test('D8: an answer without an end costs no memory, and one that never comes no more than seconds', async () => {
    const { own, started } = await deadDaemon()
    rmSync(started.socket)
    const server = net.createServer((connection) => {
      connection.on('error', () => {})
      connection.write('HTTP/1.1 200 OK\r\n\r\n')
      const pour = () => {
        while (!connection.destroyed && connection.write('x'.repeat(65536)));
      }
      connection.on('drain', pour)
      pour()
    })
    server.listen(started.socket)
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    expect(await offshoot(own, 'daemon', 'status', '--json')).toMatchObject({
      code: 1,
      json: { running: false },
    })
    note('an impostor that never stops answering', 'is hung up on')
  })

  test('D8: an impostor that passes the nonce on to the daemon gets a proof for another address', async () => {
    const folder = tempFolder()
    const file = path.join(repo.home, 'state/daemon.json')
    const kept = readFileSync(file, 'utf8')
    onTestFinished(() => writeFileSync(file, kept))
    const socket = path.join(folder, 's')
    const relay = await impostor({ path: socket }, async (target, body) => {
      const headers = { host: 'localhost', 'content-type': 'application/json' }
      return (await daemon.send(target, { method: 'POST', overSocket: true, headers, body })).text
    })
    writeFileSync(file, JSON.stringify({ ...JSON.parse(kept), socket }))
    expect((await offshoot(repo, 'daemon', 'status', '--json')).json).toMatchObject({ running: false })
    note('an impostor that relays the proof', 'is sent no token')
    expect(relay.heard()).toContain('nonce')
    expect(relay.heard()).not.toContain(daemon.token.slice(-43))
  })

  test('D8: a daemon.json that is a link, or of another user, is not read', async () => {
    const { own, started } = await deadDaemon()
    const file = path.join(own.home, 'state/daemon.json')
    const elsewhere = path.join(own.home, 'elsewhere.json')
    writeFileSync(elsewhere, readFileSync(file))
    rmSync(file)
    symlinkSync(elsewhere, file)
    rmSync(started.socket)
    const { heard } = await impostor({ path: started.socket }, () => '{}')
    expect((await offshoot(own, 'daemon', 'status', '--json')).json).toMatchObject({ running: false })
    expect(heard()).toBe('')
  })

  test('D1: something else in the place of the socket is refused, and stays', async () => {
    const own = testRepo()
    mkdirSync(path.join(own.home, 'state'), { mode: 0o700 })
    const place = path.join(own.home, 'state/daemon.sock')
    writeFileSync(place, 'mine')
    const { json } = await offshoot(own, 'serve', '--port', '0', '--json')
    note('a file in the place of the socket', json.error.code)
    expect(json.error).toMatchObject({ code: 'WT_022', path: place })
    expect(readFileSync(place, 'utf8')).toBe('mine')
  })

  test.each<[string, (folder: string, other: string) => void]>([
    ['a link', (folder, other) => symlinkSync(other, folder)],
    ['a folder that is open to others', (folder) => (mkdirSync(folder), chmodSync(folder, 0o777))],
    ['a file', (folder) => writeFileSync(folder, '')],
  ])('D1: %s in the place of the folder of the socket is refused', async (name, plant) => {
    const own = testRepo()
    own.env.OFFSHOOT_HOME = path.join(own.home, 'long'.repeat(20), 'state')
    own.env.XDG_RUNTIME_DIR = tempFolder()
    const folder = socketFolder(own.env.OFFSHOOT_HOME, own.env)
    rmSync(folder, { recursive: true })
    const other = tempFolder()
    plant(folder, other)
    const { json } = await offshoot(own, 'serve', '--port', '0', '--json')
    note(`${name} as the folder of the socket`, json.error.code)
    expect(json.error).toMatchObject({ code: 'WT_022', path: folder })
  })
})

const isRoot = process.geteuid?.() === 0

test.runIf(isRoot)(
  'D1: another user of the machine reads no token, reaches the port without one, and cannot use a code that they saw',
  async () => {
    const code = `
    process.setgroups([]), process.setgid(65534), process.setuid(65534)
    const fs = require('node:fs'), net = require('node:net'), http = require('node:http')
    const [file, socket, port, code] = process.argv.slice(1)
    const tell = (name, answer) => console.log(name + ' ' + answer)
    try { fs.readFileSync(file); tell('file', 'read') } catch (error) { tell('file', error.code) }
    net.connect(socket).on('connect', () => tell('socket', 'open')).on('error', (error) => tell('socket', error.code))
    http.request({ host: '127.0.0.1', port, path: '/metrics' }, (answer) => tell('port', answer.statusCode)).end()
    const headers = { 'content-type': 'application/json', origin: 'http://127.0.0.1:' + port }
    const ask = { host: '127.0.0.1', port, path: '/page/key', method: 'POST', headers }
    http.request(ask, (answer) => tell('code', answer.statusCode)).end(JSON.stringify({ code }))
    const bound = { ...ask, localAddress: '127.0.0.2' }
    http.request(bound, (answer) => tell('code from 127.0.0.2', answer.statusCode)).end(JSON.stringify({ code }))`
    const { json } = await post('/page/code', bearer(), '{}')
    const args = [path.join(repo.home, 'state/daemon.json'), daemon.socket, String(daemon.port), json.code]
    const child = spawn(process.execPath, ['-e', code, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: '/',
    })
    let said = ''
    child.stdout.on('data', (chunk) => (said += chunk))
    await once(child, 'close')
    note('another user of the machine', said.trim().split('\n').sort().join(', '))
    expect(said.trim().split('\n').sort()).toEqual([
      'code 403',
      'code from 127.0.0.2 403',
      'file EACCES',
      'port 401',
      'socket EACCES',
    ])
  },
)
