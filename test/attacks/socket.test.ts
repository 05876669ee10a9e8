/** What a page, a program or another user of the machine tries against the WebSocket, and that it gets them nothing. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { subprotocol } from '../../src/protocol/envelope.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { openTestSocket, type SocketInput, type TestSocket } from '../support/socket.ts'

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
  const { json } = await post('/page/code', { authorization: `Bearer ${daemon.token}` }, {})
  pageKey = (await post('/page/key', { origin: daemon.url }, { code: json.code })).json.key
  await daemon.call('task.start', { repo: repo.dir, task: 'T1' })
})

afterAll(async () => {
  await daemon.stop()
  rmSync(repo.home, { recursive: true, force: true })
  const width = Math.max(...table.map(([attack]) => attack.length))
  console.log(table.map(([attack, answer]) => `${attack.padEnd(width)}  ${answer}`).join('\n'))
})

const post = (target: string, headers: Record<string, string>, body: object) =>
  daemon.send(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

/** The status that a client is refused with; `open` if it gets in. */
async function tried(input: SocketInput): Promise<string> {
  const opened = await openTestSocket(daemon, input).catch((error: Error) => error.message)
  if (typeof opened === 'string') return opened
  opened.ws.terminate()
  return 'open'
}

async function connect(input: SocketInput = {}): Promise<TestSocket> {
  const opened = await openTestSocket(daemon, input)
  onTestFinished(() => opened.ws.terminate())
  return opened
}

const stillAnswers = async () =>
  expect((await daemon.call('task.list', { repo: repo.dir })).json.tasks).toMatchObject([{ id: 'T1' }])

/** In megabytes, as the daemon tells it. */
async function metric(name: string): Promise<number> {
  const { text } = await daemon.send('/metrics', { headers: { authorization: `Bearer ${daemon.token}` } })
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]) / 1024 / 1024
}
const memory = () => metric('process_resident_memory_bytes')
const waiting = () => metric('offshoot_socket_waiting_bytes')

const asPage = (origin: string): SocketInput => ({
  token: '',
  headers: { origin },
  protocols: [subprotocol, `key.${pageKey}`],
})

describe('D2: an upgrade that is not ours', () => {
  const attacks: [string, string, () => SocketInput][] = [
    ['a foreign Origin with the token', '403', () => ({ headers: { origin: 'https://evil.example' } })],
    ['a foreign Origin with the key of the page', '403', () => asPage('https://evil.example')],
    ["the page of another program's port", '403', () => asPage(`http://127.0.0.1:${daemon.port + 1}`)],
    ['the page by the name localhost', '403', () => asPage(`http://localhost:${daemon.port}`)],
    ['the Origin null', '403', () => asPage('null')],
    ['the key of the page without an Origin', '403', () => ({ ...asPage(''), headers: {} })],
    ['the key of the page as a token', '403', () => ({ token: pageKey })],
    ['a foreign Host', '403', () => ({ headers: { host: `evil.example:${daemon.port}` } })],
    ['localhost as Host', '403', () => ({ headers: { host: `localhost:${daemon.port}` } })],
    ['Sec-Fetch-Site: cross-site', '403', () => ({ headers: { 'sec-fetch-site': 'cross-site' } })],
    ['no token', '401', () => ({ token: '' })],
    ['a cookie alone', '401', () => ({ token: '', headers: { cookie: `token=${daemon.token}` } })],
    ['a wrong token', '401', () => ({ token: `offshoot_zzzzzzzz_${'x'.repeat(43)}` })],
    ['a revoked token', '401', () => ({ token: revoked.token })],
    [
      'a token as a subprotocol',
      '403',
      () => ({ ...asPage(daemon.url), protocols: [`key.${daemon.token}`] }),
    ],
    ['a wrong key of our own page', '401', () => ({ ...asPage(daemon.url), protocols: ['key.x'] })],
  ]

  test.each(attacks)('D2: %s is %s', async (name, status, input) => {
    const answer = await tried(input())
    note(name, answer)
    expect(answer).toBe(status)
    await stillAnswers()
  })

  test('D2, D4: our own page, and a program with the token, get in', async () => {
    expect(await tried(asPage(daemon.url))).toBe('open')
    expect(await tried({})).toBe('open')
    expect(await tried({ overSocket: true })).toBe('open')
  })

  test('D7: no token and no key of an upgrade is in the log', () => {
    const log = readFileSync(path.join(repo.home, 'state/daemon.log'), 'utf8')
    for (const secret of [daemon.token, pageKey, revoked.token]) expect(log).not.toContain(secret.slice(-43))
  })
})

test('D3: a token that may only look opens a connection that only looks', async () => {
  const { request } = await connect({ token: look.token })
  const { error } = await request('task.reject', { repo: repo.dir, task: 'T1' })
  note('a token that may only look', error.code)
  expect(error).toMatchObject({ code: 'WT_017', data: { scope: 'land' } })
  await stillAnswers()
})

describe('D2: floods', () => {
  test('D2: a frame of 20 MB ends its connection, and is not kept', async () => {
    const before = await memory()
    const codes: number[] = []
    for (let n = 0; n < 10; n++) {
      const { ws, closed } = await connect()
      ws.send('x'.repeat(20 * 1024 * 1024))
      codes.push(await closed)
    }
    const grown = (await memory()) - before
    note('10 frames of 20 MB', `closed with ${[...new Set(codes)].join(', ')}, ${grown.toFixed(0)} MB more`)
    // The daemon hangs up while the client still sends, so that its code may not arrive.
    for (const code of codes) expect([1006, 1009]).toContain(code)
    // 200 MB were sent, and none of it is kept; what was read last waits for the collector.
    expect(grown).toBeLessThan(100)
    await stillAnswers()
  })

  test('D9: of 200 connections with one token 32 are held, and others get in', async () => {
    const { json: other } = await offshoot(repo, 'token', 'create', '--scope', 'look', '--json')
    const opened: TestSocket[] = []
    const refused: string[] = []
    for (let n = 0; n < 200; n += 50)
      for (const result of await Promise.allSettled(
        Array.from({ length: 50 }, () => openTestSocket(daemon, { token: other.token })),
      ))
        if (result.status === 'fulfilled') opened.push(result.value)
        else refused.push(String((result.reason as Error).message))
    onTestFinished(() => opened.forEach(({ ws }) => ws.terminate()))
    note(
      '200 connections with one token',
      `${opened.length} open, the rest ${[...new Set(refused)].join(', ')}`,
    )
    expect(opened).toHaveLength(32)
    expect(new Set(refused)).toEqual(new Set(['429']))
    expect(await tried({})).toBe('open')
    await stillAnswers()
  })

  test('D9: who asks and never reads is not read any more, and costs little', async () => {
    const before = await memory()
    const { ws } = await connect()
    ws.pause()
    const count = 60_000
    for (let n = 0; n < count; n++)
      ws.send(
        JSON.stringify({ id: `${'x'.repeat(100)}${n}`, type: 'request', action: 'nothing', payload: {} }),
      )
    await expect.poll(waiting, { timeout: 60_000 }).toBeGreaterThan(0.5)
    await stillAnswers()
    const [grown, unread] = [(await memory()) - before, await waiting()]
    note(
      `${count} requests whose answers are not read`,
      `${unread.toFixed(1)} MB wait, ${grown.toFixed(0)} MB more`,
    )
    expect(unread).toBeLessThan(2)
    expect(ws.bufferedAmount).toBeGreaterThan(0)
  })

  test('D2: who guesses tokens is stopped', async () => {
    const wrong = look.token.slice(0, -43)
    const counted = new Map<string, number>()
    for (let n = 0; n < 300; n += 20)
      for (const answer of await Promise.all(
        Array.from({ length: 20 }, (_, m) => tried({ token: wrong + String(n + m).padStart(43, 'x') })),
      ))
        counted.set(answer, (counted.get(answer) ?? 0) + 1)
    note('300 guesses at a token', [...counted].map(([answer, n]) => `${n} × ${answer}`).join(', '))
    expect(new Set(counted.keys())).toEqual(new Set(['401', '429']))
    expect(counted.get('401')).toBeLessThanOrEqual(70)
    expect(await tried({ token: look.token })).toBe('429')
    await stillAnswers()
  })
})
