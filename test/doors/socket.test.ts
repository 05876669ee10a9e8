import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { openTestSocket, type SocketInput, type TestSocket } from '../support/socket.ts'

let repo: TestRepo
let daemon: TestDaemon

beforeAll(async () => {
  repo = testRepo({ 'a.txt': 'one\n' }, mkdtempSync(path.join(os.tmpdir(), 'offshoot-test-')))
  repo.env.OFFSHOOT_LIMITS_PER_REPO = '100'
  daemon = await startDaemon(repo)
})

afterAll(async () => {
  await daemon.stop()
  rmSync(repo.home, { recursive: true, force: true })
})

async function connect(input?: SocketInput, to = daemon): Promise<TestSocket> {
  const socket = await openTestSocket(to, input)
  onTestFinished(() => socket.ws.terminate())
  return socket
}

const tokenWith = async (...words: string[]): Promise<{ token: string; id: string }> =>
  (await offshoot(repo, 'token', 'create', ...words, '--json')).json

/** A command that says when it runs, and ends when it is told to. */
function waiting(name: string) {
  const [ready, go] = [path.join(repo.home, `${name}-ready`), path.join(repo.home, `${name}-go`)]
  const command = [
    'sh',
    '-c',
    `echo begun; echo x > x.txt; touch '${ready}'; while ! test -e '${go}'; do sleep 0.02; done`,
  ]
  const input = { repo: repo.dir, task: name, create: true, command }
  return {
    input,
    begun: () => until(() => existsSync(ready), 'the command runs'),
    letGo: () => writeFileSync(go, ''),
  }
}
const shown = async (task: string) => (await daemon.call('task.show', { repo: repo.dir, task })).json.task
const isRunning = async (task: string) => (await shown(task)).running === true
const untilOver = async (task: string) => {
  while (await isRunning(task));
}

describe('D9: the envelope', () => {
  test('D9: a request is answered under its id, with what HTTP answers', async () => {
    const { request } = await connect()
    const started = await request('task.start', { repo: repo.dir, task: 'ENVELOPE' }, 'my-own-id')
    expect(started).toMatchObject({
      id: 'my-own-id',
      type: 'response',
      action: 'task.start',
      payload: { ok: true, reused: false, task: { id: 'ENVELOPE' } },
    })
    const { payload } = await request('task.find', { repo: repo.dir, task: 'ENVELOPE' })
    expect(payload).toEqual((await daemon.call('task.find', { repo: repo.dir, task: 'ENVELOPE' })).json)
  })

  test('D9: over the unix socket as well', async () => {
    const { request } = await connect({ overSocket: true })
    expect(await request('task.list', { repo: repo.dir })).toMatchObject({ type: 'response' })
  })

  test('D9: a subprotocol is answered, and the one with a key never', async () => {
    const { ws } = await connect({ protocols: ['offshoot.v1'] })
    expect(ws.protocol).toBe('offshoot.v1')
    expect((await connect()).ws.protocol).toBe('')
  })

  test('D9: many requests at once are answered as they end', async () => {
    const socket = await connect()
    const ids = Array.from({ length: 20 }, (_, n) =>
      socket.send('task.find', { repo: repo.dir, task: `T${n}` }),
    )
    const answers = await Promise.all(ids.map(socket.answer))
    expect(answers.every(({ type }) => type === 'response')).toBe(true)
  })

  test.each([
    ['task.show', { task: 'NONE' }, 'WT_007'],
    ['task.frob', {}, 'WT_005'],
    ['toString', {}, 'WT_005'],
    ['task.list', { state: 'frob' }, 'WT_019'],
    ['task.list', { surprise: true }, 'WT_019'],
    ['task.list', { repo: '.' }, 'WT_019'],
    ['subscribe', { surprise: true }, 'WT_019'],
    ['subscribe', { repos: ['none'] }, 'WT_005'],
    ['subscribe', { repos: ['/'] }, 'WT_009'],
  ])('D9: %s with %j is an error', async (action, input, code) => {
    const { request } = await connect()
    const own = action === 'subscribe' ? input : { repo: repo.dir, ...input }
    expect(await request(action, own)).toMatchObject({
      type: 'error',
      action,
      error: { code, message: expect.any(String), hint: expect.any(String) },
    })
  })

  test('D9: what is no message is told, and the connection goes on', async () => {
    const { ws, heard, request } = await connect()
    ws.send('nonsense')
    expect(await heard(({ type }) => type === 'error')).toMatchObject({ id: null, error: { code: 'WT_019' } })
    ws.send(JSON.stringify({ id: 'x1', type: 'request', action: 'task.list', payload: 7 }))
    expect(await heard(({ id }) => id === 'x1')).toMatchObject({
      action: 'task.list',
      error: { code: 'WT_019' },
    })
    expect(await request('ping')).toMatchObject({ payload: { ok: true, daemon: expect.any(String) } })
  })

  test('D9: a message above 64 KB, or one that is no text, ends the connection', async () => {
    const large = await connect()
    large.ws.send(
      JSON.stringify({ id: 'x', type: 'request', action: 'ping', payload: { x: 'x'.repeat(65_536) } }),
    )
    expect(await large.closed).toBe(1009)
    const binary = await connect()
    binary.ws.send(Buffer.from('{}'))
    expect(await binary.closed).toBe(1003)
  })

  test('D9: of too many requests at once, the rest is refused', async () => {
    const { input, begun, letGo } = waiting('MANY')
    const socket = await connect()
    await socket.request('task.detach', input)
    await begun()
    const ids = Array.from({ length: 32 }, () => socket.send('task.attach', { repo: repo.dir, task: 'MANY' }))
    expect(await socket.request('ping')).toMatchObject({ type: 'error', error: { code: 'WT_003' } })
    letGo()
    for (const id of ids) expect(await socket.answer(id)).toMatchObject({ payload: { task: { id: 'MANY' } } })
    expect(await socket.request('ping')).toMatchObject({ type: 'response' })
  })

  test('D9: one token has no more than 32 connections', async () => {
    const { token } = await tokenWith('--scope', 'look')
    const open = []
    for (let n = 0; n < 32; n++) open.push(await connect({ token }))
    await expect(connect({ token })).rejects.toThrow('429')
    await connect()
    open[0]?.ws.close()
    await open[0]?.closed
    while ((await connect({ token }).catch(() => undefined)) === undefined);
  })
})

describe('D9: cancelling', () => {
  test('D9: a cancel ends a run as Ctrl-C would, and its work is kept', async () => {
    const { input, begun } = waiting('CANCELLED')
    const socket = await connect()
    const id = socket.send('task.run', input)
    await begun()
    socket.ws.send(JSON.stringify({ id, type: 'cancel' }))
    expect(await socket.answer(id)).toMatchObject({ type: 'error', error: { code: 'WT_021' } })
    expect(await shown('CANCELLED')).toMatchObject({ checkpoints: 1 })
    expect(await isRunning('CANCELLED')).toBe(false)
  })

  test('D9: a cancel of what is over, or was never asked, changes nothing', async () => {
    const { ws, request, frames } = await connect()
    ws.send(JSON.stringify({ id: 'never', type: 'cancel' }))
    const { id } = await request('ping')
    ws.send(JSON.stringify({ id, type: 'cancel' }))
    await request('ping')
    expect(frames.length).toBe(2)
  })

  test('D9: who says goodbye cancels its run', async () => {
    const { input, begun } = waiting('GOODBYE')
    const socket = await connect()
    socket.send('task.run', input)
    await begun()
    socket.ws.close(1000)
    await untilOver('GOODBYE')
    expect(await shown('GOODBYE')).toMatchObject({ checkpoints: 1 })
  })

  test('D9: a detached run goes on when its socket is gone', async () => {
    const { input, begun, letGo } = waiting('DETACHED')
    const socket = await connect()
    await socket.request('task.detach', input)
    await begun()
    socket.ws.close(1000)
    await socket.closed
    expect(await isRunning('DETACHED')).toBe(true)
    letGo()
    await untilOver('DETACHED')
    expect(await shown('DETACHED')).toMatchObject({ state: 'completed', checkpoints: 1 })
  })
})

describe('D6: an id is the key of what writes', () => {
  test('D6: a retry gets the first answer, over another connection and over HTTP, too', async () => {
    const input = { repo: repo.dir, task: 'ONCE' }
    const first = await (await connect()).request('task.start', input, 'key-1')
    expect(first).toMatchObject({ payload: { reused: false } })
    expect(await (await connect()).request('task.start', input, 'key-1')).toEqual(first)
    expect((await daemon.call('task.start', input, { key: 'key-1' })).json).toEqual(first.payload)
    const other = await (await connect()).request('task.start', input, 'key-2')
    expect(other).toMatchObject({ payload: { reused: true } })
  })

  test('D6: another request under the same id is refused, and what only looks may use it again', async () => {
    const { request } = await connect()
    await request('task.start', { repo: repo.dir, task: 'KEY' }, 'key-3')
    const { request: elsewhere } = await connect()
    expect(await elsewhere('task.start', { repo: repo.dir, task: 'OTHER' }, 'key-3')).toMatchObject({
      error: { code: 'WT_019' },
    })
    const again = await Promise.all([
      request('task.find', { repo: repo.dir, task: 'KEY' }, 'look'),
      elsewhere('task.find', { repo: repo.dir, task: 'ONCE' }, 'look'),
    ])
    expect(again.map(({ payload }) => payload.task.id)).toEqual(['KEY', 'ONCE'])
  })

  test('D6: a connection that broke is made again, and the run went on', async () => {
    const { input, begun, letGo } = waiting('BROKEN')
    const first = await connect()
    first.send('task.run', input, 'key-4')
    await begun()
    first.ws.terminate()
    await first.closed
    const second = await connect()
    second.send('task.run', input, 'key-4')
    // Longer than anybody may stay away.
    await second.heard(({ action }) => action === 'heartbeat')
    letGo()
    expect(await second.answer('key-4')).toMatchObject({ payload: { exitCode: 0, task: { runs: 1 } } })
  })

  test('D6: nobody comes back, and the run is cancelled', async () => {
    const { input, begun } = waiting('GONE')
    const socket = await connect()
    socket.send('task.run', input)
    await begun()
    const at = performance.now()
    socket.ws.terminate()
    await untilOver('GONE')
    expect(performance.now() - at).toBeGreaterThan(9000)
  })
})

describe('D3: the rights of a connection', () => {
  test('D3: a token does what its scope allows, by each of its names', async () => {
    const { token } = await tokenWith('--scope', 'look')
    const { request } = await connect({ token })
    expect(await request('task.list', { repo: repo.dir })).toMatchObject({ type: 'response' })
    for (const [action, payload] of [
      ['task.start', { repo: repo.dir, task: 'NO' }],
      ['task.accept', { repo: repo.dir, task: 'ENVELOPE' }],
      ['worktree.merge', { task_id: 'ENVELOPE' }],
      ['worktree.discard', { task_id: 'ENVELOPE' }],
      ['task.close', { task_id: 'ENVELOPE', merge_option: 'merge' }],
      ['orchestrator.start', { task_id: 'ENVELOPE', prompt: 'x' }],
    ] as const)
      expect(await request(action, payload)).toMatchObject({
        type: 'error',
        error: { code: 'WT_017', data: { scope: expect.any(String) } },
      })
  })

  test('D3: a revoked token ends its connections, those that only listen as well', async () => {
    const { token, id } = await tokenWith('--scope', 'admin')
    const [asks, listens] = [await connect({ token }), await connect({ token })]
    await listens.request('subscribe', { since: 0 })
    await offshoot(repo, 'token', 'revoke', id)
    asks.send('task.list', { repo: repo.dir })
    expect(await asks.closed).toBe(4401)
    expect(asks.frames).toEqual([])
    const before = listens.frames.length
    await daemon.call('task.start', { repo: repo.dir, task: 'AFTER' })
    expect(await listens.closed).toBe(4401)
    expect(listens.frames.length - before).toBe(0)
  })

  test('D3: the token of a task may look at its task, and not follow the log', async () => {
    await offshoot(repo, 'start', 'MINE')
    const { token } = await tokenWith('--task', 'MINE')
    const { request } = await connect({ token })
    expect(await request('task.show', { repo: repo.dir, task: 'MINE' })).toMatchObject({ type: 'response' })
    expect(await request('worktree.get', { task_id: 'MINE' })).toMatchObject({ type: 'response' })
    expect(await request('worktree.get', { task_id: 'ENVELOPE' })).toMatchObject({
      error: { code: 'WT_017' },
    })
    expect(await request('subscribe')).toMatchObject({ error: { code: 'WT_017' } })
  })
})

describe('D12: output', () => {
  test('D12: who asks for a run hears what it says, and who subscribes hears every run', async () => {
    const { input, begun, letGo } = waiting('HEARD')
    const [asks, listens, deaf] = [await connect(), await connect(), await connect()]
    await listens.request('subscribe', { since: 0, output: true, tasks: ['HEARD'] })
    await deaf.request('subscribe', { since: 0 })
    const id = asks.send('task.run', input)
    await begun()
    const has = (text: string) => (frame: { action?: string; payload?: { events?: unknown } }) =>
      frame.action === 'task.output' && JSON.stringify(frame.payload?.events).includes(text)
    expect(await asks.heard(has('begun'))).toMatchObject({ payload: { request: id } })
    expect(await listens.heard(has('begun'))).toMatchObject({
      payload: { task: 'HEARD', run: expect.any(String), from: expect.any(Number) },
    })
    letGo()
    expect(await asks.answer(id)).toMatchObject({ payload: { exitCode: 0 } })
    expect(deaf.frames.filter(({ action }) => action === 'task.output')).toEqual([])
  })

  test('D12: a run of another process is heard as well, each byte of its transcript once', async () => {
    const socket = await connect()
    await socket.request('subscribe', { output: true })
    const line = 'for n in 1 2 3 4 5 6; do echo line $n; sleep 0.07; done'
    await offshoot(repo, 'run', '--task', 'ELSEWHERE', '--json', '--', 'sh', '-c', line)
    const parts = () =>
      socket.frames.filter(({ action, payload }) => action === 'task.output' && payload.task === 'ELSEWHERE')
    const text = () =>
      parts()
        .flatMap(({ payload }) => payload.events)
        .map((event: { text?: string }) => event.text ?? '')
        .join('')
    await until(() => text().includes('line 6'), 'all of it was heard')
    expect(text()).toBe('line 1\nline 2\nline 3\nline 4\nline 5\nline 6\n')
    let end = parts()[0]?.payload.from
    for (const { payload } of parts()) {
      expect(payload.from).toBe(end)
      end = payload.to
    }
  })

  test('D12: a secret in the output is masked', async () => {
    const socket = await connect()
    await socket.request('subscribe', { output: true, tasks: ['SECRET'] })
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const command = ['sh', '-c', `echo key ${secret}; echo done`]
    await socket.request('task.detach', { repo: repo.dir, task: 'SECRET', create: true, command })
    await socket.heard(
      ({ action, payload }) => action === 'task.output' && JSON.stringify(payload).includes('done'),
    )
    expect(JSON.stringify(socket.frames.filter(({ action }) => action === 'task.output'))).not.toContain(
      secret,
    )
  })
})

describe('D8: the end', () => {
  test('D8: a stop answers what is under way, refuses what comes then, and says goodbye', async () => {
    const own = testRepo()
    const started = await startDaemon(own)
    onTestFinished(() => void started.child.kill('SIGKILL'))
    const [ready, go] = [path.join(own.home, 'ready'), path.join(own.home, 'go')]
    const command = ['sh', '-c', `touch '${ready}'; while ! test -e '${go}'; do sleep 0.02; done`]
    const [busy, idle] = [await connect({}, started), await connect({}, started)]
    const id = busy.send('task.run', { repo: own.dir, task: 'T1', create: true, command })
    await until(() => existsSync(ready), 'the command runs')
    const ended = started.stop()
    expect(await idle.closed).toBe(1001)
    expect(await busy.request('task.list', { repo: own.dir })).toMatchObject({ error: { code: 'WT_021' } })
    writeFileSync(go, '')
    expect(await busy.answer(id)).toMatchObject({ payload: { exitCode: 0 } })
    expect(await busy.closed).toBe(1001)
    expect(await ended).toMatchObject({ code: 0 })
  })
})

describe('D7: log and metrics', () => {
  test('D7: each request is counted and logged, without its payload', async () => {
    const { request } = await connect()
    await request('task.find', { repo: repo.dir, task: 'IN-NO-LOG' })
    await request('x'.repeat(50), { repo: repo.dir })
    const { text } = await daemon.send('/metrics', { headers: { authorization: `Bearer ${daemon.token}` } })
    expect(text).toMatch(/^offshoot_socket_requests_total\{action="task.find",status="ok"\} \d+$/m)
    expect(text).toMatch(/^offshoot_socket_requests_total\{action="none",status="WT_005"\} \d+$/m)
    expect(text).toMatch(/^offshoot_sockets [1-9]\d*$/m)
    const log = readFileSync(path.join(repo.home, 'state/daemon.log'), 'utf8')
    expect(log).toMatch(/"action":"task.find","status":"ok","ms":\d+,"by":"\w+","msg":"socket"/)
    expect(log).not.toMatch(/IN-NO-LOG|offshoot_[0-9a-z]{8}_/)
  })
})
