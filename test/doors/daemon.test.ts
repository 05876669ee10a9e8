import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { schemas } from '../../src/protocol/schemas/index.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/processes.ts'
import { offshoot, tempFolder, type TestRepo, testRepo } from '../support/repo.ts'

let repo: TestRepo
let daemon: TestDaemon

const stateOf = (of: TestRepo, name: string) => path.join(of.env.OFFSHOOT_HOME ?? '', name)
const modeOf = (file: string) => statSync(file).mode & 0o777

beforeAll(async () => {
  repo = testRepo({ 'a.txt': 'one\n' }, mkdtempSync(path.join(os.tmpdir(), 'offshoot-test-')))
  daemon = await startDaemon(repo)
})

afterAll(async () => {
  await daemon.stop()
  rmSync(repo.home, { recursive: true, force: true })
})

const list = (token?: string) =>
  daemon.call('task.list', { repo: repo.dir }, token === undefined ? {} : { token })

async function tokenWith(...words: string[]): Promise<{ token: string; id: string }> {
  return (await offshoot(repo, 'token', 'create', ...words, '--json')).json
}

/** A daemon of its own, for tests that end it. */
async function ownDaemon(...args: string[]) {
  const own = testRepo()
  const started = await startDaemon(own, ...args)
  onTestFinished(() => void started.child.kill('SIGKILL'))
  return { own, started }
}

describe('D1: the daemon', () => {
  test('D1: listens on 127.0.0.1 and on a socket, and says where in a private file', async () => {
    expect(daemon.url).toBe(`http://127.0.0.1:${daemon.port}`)
    const note = JSON.parse(readFileSync(stateOf(repo, 'daemon.json'), 'utf8'))
    expect(note).toEqual({
      pid: daemon.child.pid,
      url: daemon.url,
      socket: stateOf(repo, 'daemon.sock'),
      token: daemon.token,
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    })
    for (const name of ['daemon.json', 'daemon.sock', 'daemon.log'])
      expect(modeOf(stateOf(repo, name))).toBe(0o600)
    const listening = readFileSync('/proc/net/tcp', 'latin1').split('\n')
    const hex = daemon.port.toString(16).toUpperCase().padStart(4, '0')
    expect(listening.filter((line) => line.includes(`:${hex} 00000000:0000 0A`))).toEqual([
      expect.stringContaining(`0100007F:${hex}`),
    ])
    expect(readFileSync('/proc/net/tcp6', 'latin1')).not.toContain(`:${hex} `)
  })

  test('D1: with a long state folder the socket is in a private folder with a shorter path', async () => {
    const own = testRepo()
    const long = path.join(own.home, 'long'.repeat(20), 'state')
    own.env.OFFSHOOT_HOME = long
    own.env.XDG_RUNTIME_DIR = tempFolder()
    const started = await startDaemon(own)
    expect(Buffer.byteLength(started.socket)).toBeLessThan(104)
    expect(started.socket.startsWith(own.env.XDG_RUNTIME_DIR)).toBe(true)
    expect(modeOf(path.dirname(started.socket))).toBe(0o700)
    expect((await offshoot(own, 'daemon', 'status', '--json')).json).toMatchObject({ running: true })
    await started.stop()
  })

  test.each([
    [['--host', '0.0.0.0'], 'WT_017'],
    [['--host', '::1'], 'WT_017'],
    [['--host', 'localhost'], 'WT_019'],
    [['--port', 'x'], 'WT_019'],
    [['--tls-cert', 'a.pem'], 'WT_019'],
    [['--tls-cert', 'a.pem', '--tls-key', 'a.pem'], 'WT_005'],
  ])('D1: serve %j is refused', async (words, code) => {
    const own = testRepo()
    const { json } = await offshoot(own, 'serve', '--json', ...words)
    expect(json).toMatchObject({ ok: false, error: { code } })
    expect(existsSync(stateOf(own, 'daemon.json'))).toBe(false)
  })

  test('D1: another address takes TLS and a token of the user’s, and not the token of daemon.json', async () => {
    const own = testRepo()
    const [cert, key] = [path.join(own.home, 'cert.pem'), path.join(own.home, 'key.pem')]
    const words = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
    ]
    const subject = [
      '-subj',
      '/CN=offshoot',
      '-addext',
      'subjectAltName=IP:127.0.0.2',
      '-keyout',
      key,
      '-out',
      cert,
    ]
    execFileSync('openssl', [...words, ...subject], { stdio: 'ignore' })
    const where = ['--host', '127.0.0.2', '--tls-cert', cert, '--tls-key', key]
    expect((await offshoot(own, 'serve', '--port', '0', '--json', ...where)).json.error).toMatchObject({
      code: 'WT_017',
      hint: 'Make one first: offshoot token create --scope look',
    })
    const { token } = (await offshoot(own, 'token', 'create', '--scope', 'look', '--json')).json
    const started = await startDaemon(own, ...where)
    const ask = (bearer: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { authorization: `Bearer ${bearer}` }
        const at = { host: '127.0.0.2', port: started.port, path: '/metrics', ca: readFileSync(cert) }
        https
          .get({ ...at, headers, agent: false }, (answer) => resolve(answer.resume().statusCode))
          .on('error', reject)
      })
    expect(started.url).toBe(`https://127.0.0.2:${started.port}`)
    expect(await ask(token)).toBe(200)
    expect(await ask(started.token)).toBe(403)
    expect((await offshoot(own, 'daemon', 'status', '--json')).json).toMatchObject({
      running: true,
      url: started.url,
    })
    expect(
      (await offshoot(own, 'serve', '--port', '0', '--json', '--tls-cert', key, '--tls-key', cert)).json,
    ).toMatchObject({
      already: true,
    })
    await started.stop()
    expect(
      (await offshoot(own, 'serve', '--port', '0', '--json', '--tls-cert', key, '--tls-key', cert)).json
        .error,
    ).toMatchObject({ code: 'WT_019', message: 'The certificate and its key cannot be used.' })
  })

  test('D1: a port that another program has is named, and nothing is left behind', async () => {
    const own = testRepo()
    const { json, code } = await offshoot(own, 'serve', '--port', String(daemon.port), '--json')
    expect(json.error.message).toBe(`Another program listens on 127.0.0.1, port ${daemon.port}.`)
    expect(code).toBe(1)
    expect(existsSync(stateOf(own, 'daemon.json'))).toBe(false)
    expect(existsSync(stateOf(own, 'daemon.sock'))).toBe(false)
  })
})

describe('D8: one daemon for a state folder', () => {
  test('D8: a second serve says where the first one is', async () => {
    const second = await offshoot(repo, 'serve', '--json')
    expect(second).toMatchObject({
      code: 0,
      json: { ok: true, already: true, url: daemon.url, pid: daemon.child.pid },
    })
    expect((await offshoot(repo, 'serve')).stdout).toBe(
      `Already listening on ${daemon.url}, as process ${daemon.child.pid}.\n`,
    )
  })

  test('D8: status finds it, and stop ends it with nothing left', async () => {
    const { own, started } = await ownDaemon()
    const { json } = await offshoot(own, 'daemon', 'status', '--json')
    expect(json).toMatchObject({ ok: true, running: true, url: started.url, pid: started.child.pid })
    expect(json).not.toHaveProperty('token')
    expect((await offshoot(own, 'daemon', 'stop')).stdout).toBe('The daemon has stopped.\n')
    expect(await started.ended()).toMatchObject({ code: 0, last: { ok: true, stopped: true } })
    for (const name of ['daemon.json', 'daemon.sock']) expect(existsSync(stateOf(own, name))).toBe(false)
    expect(await offshoot(own, 'daemon', 'status', '--json')).toMatchObject({
      code: 1,
      json: { running: false },
    })
    expect(await offshoot(own, 'daemon', 'stop', '--json')).toMatchObject({
      code: 0,
      json: { stopped: false },
    })
  })

  test('D8: what a killed daemon left behind is not taken for a daemon, and does not stop the next', async () => {
    const { own, started } = await ownDaemon()
    await started.stop('SIGKILL')
    expect(existsSync(stateOf(own, 'daemon.json'))).toBe(true)
    expect((await offshoot(own, 'daemon', 'status', '--json')).json).toMatchObject({ running: false })
    const next = await startDaemon(own)
    expect(next.token).not.toBe(started.token)
    expect(await next.stop('SIGINT')).toMatchObject({ code: 0 })
  })

  test('D8: of several that start at once, one serves and the others find it', async () => {
    const own = testRepo()
    await offshoot(own, 'list')
    const first = startDaemon(own)
    const others = await Promise.all(
      [1, 2].map(() => first.then(() => offshoot(own, 'serve', '--port', '0', '--json'))),
    )
    const started = await first
    for (const { json } of others) expect(json).toMatchObject({ already: true, url: started.url })
    await started.stop()
  })

  test('D8: a request that is under way is answered before the daemon ends', async () => {
    const { own, started } = await ownDaemon()
    const [ready, go] = [path.join(own.home, 'ready'), path.join(own.home, 'go')]
    const command = [
      'sh',
      '-c',
      `echo x > x.txt; touch '${ready}'; while ! test -e '${go}'; do sleep 0.02; done`,
    ]
    const answer = started.call('task.run', { repo: own.dir, task: 'T1', create: true, command })
    await until(() => existsSync(ready), 'the command runs')
    const ended = started.stop()
    await until(() => !existsSync(stateOf(own, 'daemon.json')), 'it is stopping')
    await expect(started.send('/healthz')).rejects.toMatchObject({
      code: expect.stringMatching(/^ECONN(REFUSED|RESET)$/),
    })
    writeFileSync(go, '')
    expect(await answer).toMatchObject({
      status: 200,
      json: { ok: true, exitCode: 0, task: { checkpoints: 1 } },
    })
    expect(await ended).toMatchObject({ code: 0 })
  })
})

describe('D5: HTTP', () => {
  test('D5: health says ok and the version, and nothing else', async () => {
    const { status, json, headers } = await daemon.send('/healthz')
    expect({ status, json }).toEqual({
      status: 200,
      json: { ok: true, version: expect.stringMatching(/^\d/) },
    })
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
    })
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('D5: an action answers what --json prints', async () => {
    await offshoot(repo, 'start', 'SAME')
    const { stdout } = await offshoot(repo, 'list', '--json')
    expect(await list()).toMatchObject({ status: 200, text: stdout.trimEnd() })
    expect((await daemon.call('worktree.show', { repo: repo.dir, task: 'SAME' })).json.task.id).toBe('SAME')
  })

  test.each([
    ['task.show', { task: 'NONE' }, 404, 'WT_007'],
    ['task.frob', {}, 404, 'WT_005'],
    ['task.list', { state: 'frob' }, 400, 'WT_019'],
    ['task.list', { surprise: true }, 400, 'WT_019'],
    ['task.list', { repo: '.' }, 400, 'WT_019'],
    ['task.list', { repo: '/' }, 500, 'WT_009'],
    ['worktree.remove', { path: '../x' }, 400, 'WT_019'],
    ['task.start', { task: '../x' }, 400, 'WT_006'],
    ['task.start', { task: 'S2', from: 'none' }, 404, 'WT_010'],
    ['system.undo', {}, 404, 'WT_005'],
  ])('D5: %s with %j is %i', async (action, input, status, code) => {
    const own = { repo: repo.dir, ...input }
    expect(await daemon.call(action, own)).toMatchObject({ status, json: { ok: false, error: { code } } })
  })

  test('D5: a body that is no JSON, or no object, is 400', async () => {
    const headers = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' }
    for (const body of ['', '{', '[]', 'null', '"x"', '{"repo":1}'])
      expect(await daemon.send('/api/task.list', { method: 'POST', headers, body })).toMatchObject({
        status: 400,
        json: { ok: false, error: { code: 'WT_019' } },
      })
  })

  test('D5: a conflict is 409 and a refusal 422', async () => {
    const { json } = await daemon.call('task.start', { repo: repo.dir, task: 'CLASH' })
    writeFileSync(path.join(json.task.path, 'a.txt'), 'theirs\n')
    writeFileSync(path.join(repo.dir, 'a.txt'), 'mine\n')
    const clash = await daemon.call('task.accept', { repo: repo.dir, task: 'CLASH' })
    expect(clash).toMatchObject({
      status: 409,
      json: { error: { code: 'WT_011', data: { conflicts: [{ path: 'a.txt' }] } } },
    })
    writeFileSync(path.join(json.task.path, 'new.txt'), 'in no step\n')
    expect(await daemon.call('worktree.remove', { repo: repo.dir, task: 'CLASH' })).toMatchObject({
      status: 422,
      json: { error: { code: 'WT_004' } },
    })
    writeFileSync(path.join(repo.dir, 'a.txt'), 'one\n')
  })

  test('D5: the socket takes the same requests, and asks for a token as well', async () => {
    const send = (headers: Record<string, string>) =>
      daemon.send('/api/task.list', {
        method: 'POST',
        overSocket: true,
        headers: { host: 'localhost', 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ repo: repo.dir }),
      })
    expect(await send({})).toMatchObject({ status: 401, text: '' })
    expect(await send({ authorization: `Bearer ${daemon.token}` })).toMatchObject({ status: 200 })
  })
})

describe('D6: retries and clients that leave', () => {
  test('D6: a retry with the same key gets the first answer', async () => {
    const input = { repo: repo.dir, task: 'ONCE' }
    const first = await daemon.call('task.start', input, { key: 'k1' })
    const again = await daemon.call('task.start', input, { key: 'k1' })
    expect(first.json).toMatchObject({ ok: true, reused: false })
    expect(again.text).toBe(first.text)
    expect((await daemon.call('task.start', input)).json).toMatchObject({ reused: true })
    expect(await daemon.call('task.start', { repo: repo.dir, task: 'TWICE' }, { key: 'k1' })).toMatchObject({
      status: 400,
      json: { error: { code: 'WT_019' } },
    })
  })

  /** A run that waits for a file, in a request that is cut off in the middle. */
  async function cutOff(task: string, key?: string) {
    const [ready, go] = [path.join(repo.home, `${task}-ready`), path.join(repo.home, `${task}-go`)]
    const command = [
      'sh',
      '-c',
      `echo x > x.txt; touch '${ready}'; while ! test -e '${go}'; do sleep 0.02; done`,
    ]
    const input = { repo: repo.dir, task, create: true, command }
    const cut = new AbortController()
    const answer = daemon.call('task.run', input, { signal: cut.signal, ...(key !== undefined && { key }) })
    await until(() => existsSync(ready), 'the command runs')
    cut.abort()
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
    return { input, go }
  }
  const runningOf = async (task: string) =>
    (await daemon.call('task.show', { repo: repo.dir, task })).json.task.running === true

  test('D6: a client that leaves cancels its run, and the work is kept', async () => {
    await cutOff('LEFT')
    while (await runningOf('LEFT'));
    const { json } = await daemon.call('task.show', { repo: repo.dir, task: 'LEFT' })
    expect(json.task).toMatchObject({ checkpoints: 1 })
  })

  test('D6: with a key the run goes on, and the client that comes back gets its answer', async () => {
    const { input, go } = await cutOff('BACK', 'k2')
    expect(await runningOf('BACK')).toBe(true)
    const answer = daemon.call('task.run', input, { key: 'k2' })
    writeFileSync(go, '')
    expect(await answer).toMatchObject({ status: 200, json: { exitCode: 0, task: { runs: 1 } } })
  })
})

describe('D3: tokens', () => {
  test('D3: a token opens its scope and those before, and is kept as a hash alone', async () => {
    const { token, id } = await tokenWith('--scope', 'look', '--name', 'dashboard')
    expect(await list(token)).toMatchObject({ status: 200 })
    expect(await daemon.call('task.start', { repo: repo.dir, task: 'NO' }, { token })).toMatchObject({
      status: 403,
      json: { error: { code: 'WT_017', data: { scope: 'run' } } },
    })
    expect(await daemon.call('task.prune', { repo: repo.dir, dryRun: true }, { token })).toMatchObject({
      status: 200,
    })
    const { token: wider } = await tokenWith('--scope', 'land')
    expect(await daemon.call('task.start', { repo: repo.dir, task: 'YES' }, { token: wider })).toMatchObject({
      status: 200,
    })
    expect(await daemon.call('token.list', {}, { token: wider })).toMatchObject({ status: 403 })
    const kept = readFileSync(stateOf(repo, 'tokens.json'), 'utf8')
    expect(modeOf(stateOf(repo, 'tokens.json'))).toBe(0o600)
    expect(kept).toContain(id)
    for (const one of [token, wider]) expect(kept).not.toContain(one.slice(-43))
  })

  test('D3: a revoked token opens nothing from the answer on', async () => {
    const { token, id } = await tokenWith('--scope', 'admin')
    expect(await list(token)).toMatchObject({ status: 200 })
    const { ok: _, ...revoked } = (await offshoot(repo, 'token', 'revoke', id, '--json')).json
    expect(schemas['token.revoke'].output.parse(revoked)).toMatchObject({ revoked: { id, scope: 'admin' } })
    expect(await list(token)).toMatchObject({ status: 401, text: '' })
    expect(await offshoot(repo, 'token', 'revoke', id, '--json')).toMatchObject({ code: 3 })
  })

  test('D3: doctor and repair know the file of tokens as ours', async () => {
    await tokenWith('--scope', 'look')
    expect((await offshoot(repo, 'doctor')).stdout).not.toContain('tokens.json')
    await offshoot(repo, 'repair')
    expect(existsSync(stateOf(repo, 'tokens.json'))).toBe(true)
    expect(existsSync(stateOf(repo, 'daemon.json'))).toBe(true)
  })

  test.each(['', '{', '{}', '{"tokens":{}}'])(
    'D3: with %j as the file of tokens only the owner gets in',
    async (content) => {
      const { token } = await tokenWith('--scope', 'look')
      const file = stateOf(repo, 'tokens.json')
      const kept = readFileSync(file)
      writeFileSync(file, content)
      expect(await list(token)).toMatchObject({ status: 401 })
      expect(await list()).toMatchObject({ status: 200 })
      expect(await offshoot(repo, 'token', 'list', '--json')).toMatchObject({
        code: 6,
        json: { error: { code: 'WT_022', path: file } },
      })
      writeFileSync(file, kept)
    },
  )

  test('D3: a damaged row in the file of tokens opens nothing, and keeps nobody else out', async () => {
    const { token } = await tokenWith('--scope', 'look')
    const { token: unlimited } = await tokenWith('--scope', 'look')
    const { token: rightless, id } = await tokenWith('--scope', 'look')
    const file = stateOf(repo, 'tokens.json')
    const { tokens } = JSON.parse(readFileSync(file, 'utf8'))
    delete tokens.at(-1).rights
    tokens.at(-2).expiresAt = 'never'
    writeFileSync(file, JSON.stringify({ tokens: [{}, null, ...tokens] }))
    expect(await list()).toMatchObject({ status: 200 })
    expect(await list(token)).toMatchObject({ status: 200 })
    expect(await list(unlimited)).toMatchObject({ status: 401 })
    expect(await list(rightless)).toMatchObject({ status: 401 })
    const { json } = await offshoot(repo, 'token', 'list', '--json')
    expect(json.tokens).toHaveLength(tokens.length - 2)
    expect(json.tokens).not.toContainEqual(expect.objectContaining({ id }))
  })

  test('D3: the token of a task looks at its task, and can only say what it wants of any other verb', async () => {
    await offshoot(repo, 'start', 'MINE')
    await offshoot(repo, 'start', 'THEIRS')
    const { token } = await tokenWith('--task', 'MINE', '--days', '1')
    const ask = (action: string, task: string) => daemon.call(action, { repo: repo.dir, task }, { token })
    expect(await ask('task.show', 'MINE')).toMatchObject({ status: 200 })
    expect(await ask('task.show', 'THEIRS')).toMatchObject({
      status: 422,
      json: { error: { code: 'WT_017' } },
    })
    for (const action of ['task.accept', 'task.reject', 'task.stop'])
      expect(await ask(action, 'MINE')).toMatchObject({ status: 422, json: { error: { code: 'WT_017' } } })
    expect(await daemon.call('token.create', { scope: 'look' }, { token })).toMatchObject({ status: 422 })
    const go = path.join(repo.home, 'wanted-go')
    const ready = path.join(repo.home, 'wanted-ready')
    const command = ['sh', '-c', `touch '${ready}'; while ! test -e '${go}'; do sleep 0.02; done`]
    const run = daemon.call('task.run', { repo: repo.dir, task: 'MINE', create: false, command })
    await until(() => existsSync(ready), 'the run is under way')
    expect((await ask('task.accept', 'MINE')).json.error.hint).toContain('The user is told that you want it.')
    writeFileSync(go, '')
    expect((await run).json.task).toMatchObject({ wanted: 'accept' })
  })

  test('D3: the token of a task is for the repository of that task, while it is open', async () => {
    const other = testRepo()
    other.env.OFFSHOOT_HOME = stateOf(repo, '')
    const { json: far } = await offshoot(other, 'start', 'FAR', '--json')
    await offshoot(repo, 'start', 'NEAR')
    const { token } = await tokenWith('--task', 'NEAR')
    const ask = async (action: string, dir: string, more: object = {}) => {
      const { status, json } = await daemon.call(action, { repo: dir, ...more }, { token })
      return status === 200 ? 'answered' : json.error.code
    }
    const forAll = [
      'task.list',
      'worktree.list',
      'system.config',
      'system.doctor',
      'system.orphans',
      'system.notices',
    ]
    for (const action of forAll) {
      expect([action, await ask(action, repo.dir)]).toEqual([action, 'answered'])
      expect([action, await ask(action, other.dir)]).toEqual([action, 'WT_017'])
    }
    expect(await ask('task.exists', other.dir, { task: 'FAR' })).toBe('WT_017')
    expect(await ask('task.show', other.dir, { task: 'F' })).toBe('WT_017')
    expect(await ask('task.find', repo.dir, { path: far.task.path })).toBe('WT_017')
    expect(await ask('task.find', repo.dir, { task: 'NEAR' })).toBe('answered')
    expect(await ask('task.list', repo.home)).toBe('WT_017')
    await offshoot(repo, 'reject', 'NEAR')
    for (const action of forAll) expect([action, await ask(action, repo.dir)]).toEqual([action, 'WT_017'])
  })

  test.each([
    [[], 'WT_019'],
    [['--scope', 'look', '--task', 'T1'], 'WT_019'],
    [['--scope', 'all'], 'WT_019'],
    [['--scope', 'look', '--days', '0'], 'WT_019'],
    [['--scope', 'look', '--days', 'x'], 'WT_019'],
    [['--task', 'NONE'], 'WT_007'],
  ])('D3: token create %j is refused', async (words, code) => {
    expect((await offshoot(repo, 'token', 'create', '--json', ...words)).json.error).toMatchObject({ code })
  })

  test('D3: an agent can make no token, start no daemon and stop none', async () => {
    const agent = { ...repo, env: { ...repo.env, OFFSHOOT_RUN: 'r1' } }
    for (const words of [
      ['token', 'create', '--scope', 'look'],
      ['token', 'list'],
      ['token', 'revoke', 'x'],
      ['serve'],
      ['daemon', 'stop'],
    ])
      expect(await offshoot(agent, ...words, '--json')).toMatchObject({
        code: 5,
        json: { error: { code: 'WT_017' } },
      })
    expect(await list()).toMatchObject({ status: 200 })
  })

  test('D5: a command writes nothing to the streams of the daemon', async () => {
    const command = ['sh', '-c', 'echo said-by-a-command; echo said-by-a-command >&2; cat']
    const input = { repo: repo.dir, task: 'LOUD', create: true, command }
    expect((await daemon.call('task.run', input)).json).toMatchObject({ ok: true, exitCode: 0 })
    const direct = { repo: tempFolder(), isolation: 'direct', command }
    expect((await daemon.call('system.direct', direct)).json).toMatchObject({ ok: true, exitCode: 0 })
    expect(daemon.said()).not.toContain('said-by-a-command')
  })

  test('D3: a run that the daemon starts gets no token', async () => {
    const command = ['sh', '-c', 'env > env.txt']
    const { json } = await daemon.call('task.run', { repo: repo.dir, task: 'ENV', create: true, command })
    const seen = readFileSync(path.join(json.task.path, 'env.txt'), 'utf8')
    expect(seen).toContain('OFFSHOOT_RUN=')
    expect(seen).not.toContain('offshoot_')
  })
})

describe('D4: the key of the page', () => {
  const own = (headers: Record<string, string> = {}) => ({
    'content-type': 'application/json',
    origin: daemon.url,
    'sec-fetch-site': 'same-origin',
    ...headers,
  })
  const makeCode = async () => {
    const headers = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' }
    return (await daemon.send('/page/code', { method: 'POST', headers, body: '{}' })).json.code as string
  }
  const exchange = (code: string, headers = own()) =>
    daemon.send('/page/key', { method: 'POST', headers, body: JSON.stringify({ code }) })

  test('D4: a code is exchanged once for a key, which works with the Origin of the page alone', async () => {
    const code = await makeCode()
    const { status, json } = await exchange(code)
    expect(status).toBe(200)
    expect(await exchange(code)).toMatchObject({ status: 401, text: '' })
    const look = (headers: Record<string, string>) =>
      daemon.send('/api/task.list', { method: 'POST', headers, body: JSON.stringify({ repo: repo.dir }) })
    const key = { authorization: `Offshoot ${json.key}` }
    expect(await look(own(key))).toMatchObject({ status: 200 })
    expect(await look({ ...key, 'content-type': 'application/json' })).toMatchObject({
      status: 403,
      text: '',
    })
    expect(await look(own({ ...key, origin: 'http://127.0.0.1:1' }))).toMatchObject({ status: 403, text: '' })
    expect(await look(own({ cookie: `key=${json.key}` }))).toMatchObject({ status: 401, text: '' })
    const { tokens } = (await offshoot(repo, 'token', 'list', '--json')).json
    expect(tokens).toContainEqual(expect.objectContaining({ scope: 'page', name: 'page', expired: false }))
  })

  test('D4: the second serve --open shows the page of the first, with a code in the fragment', async () => {
    const { stderr } = await offshoot({ ...repo, env: { ...repo.env, PATH: '/nowhere' } }, 'serve', '--open')
    const [, page, code = ''] = /(http:\S+)#code=(\S+)/.exec(stderr) ?? []
    expect(page).toBe(`${daemon.url}/`)
    expect(await exchange(code)).toMatchObject({ status: 200 })
  })

  test('D4: a build without the page has no files', async () => {
    expect(await daemon.send('/')).toMatchObject({ status: 404, text: '' })
  })
})

describe('D7: log, metrics and description', () => {
  test('D7: metrics need a token', async () => {
    expect(await daemon.send('/metrics')).toMatchObject({ status: 401, text: '' })
    const { text, headers } = await daemon.send('/metrics', {
      headers: { authorization: `Bearer ${daemon.token}` },
    })
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(text).toMatch(/^offshoot_http_requests_total\{route="api",action="task.list",status="200"\} \d+$/m)
    expect(text).toMatch(/^offshoot_refused_total\{reason="no token"\} \d+$/m)
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
  })

  test('D7: the log tells each request, and holds neither a token nor a key', async () => {
    await list()
    const log = readFileSync(stateOf(repo, 'daemon.log'), 'utf8')
    const lines = log
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'api', path: '/api/task.list', status: 200 }))
    expect(lines.some(({ msg }) => msg === 'refused: no token')).toBe(true)
    expect(log).not.toMatch(/offshoot_[0-9a-z]{8}_/)
  })

  test('D7: --verbose tells the same on stderr', async () => {
    const { started } = await ownDaemon('--verbose')
    await started.send('/healthz')
    await started.stop()
    expect(started.said()).toMatch(/"msg":"listening"/)
    expect(started.said()).toMatch(/"msg":"health"/)
  })
})
