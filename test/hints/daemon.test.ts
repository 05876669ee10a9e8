/** Hints of the daemon: where it listens, who gets in, and what programs hear who ask it something. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import { connectToDaemon } from '../../src/client/daemon-socket.ts'
import { type Channel, openSocket } from '../../src/client/socket.ts'
import { appError } from '../../src/core/model/errors.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { type Person, until } from '../support/hints/person.ts'
import { tryHints } from '../support/hints/try-hints.ts'
import { openTestSocket } from '../support/socket.ts'

const listens = /Listening on/

const stateOf = ({ user }: Person) => user.env.OFFSHOOT_HOME ?? ''

/** A program that has a port of its own. */
function listening(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

/** Serves with these words, as far as it gets, and stops. */
async function serves(person: Person, words: string): Promise<void> {
  const { stdout, stderr } = await person.interrupt(`offshoot serve ${words}`, (shown) => listens.test(shown))
  expect(stdout + stderr).toMatch(listens)
}

const serving = (words: string) => `timeout 20 offshoot serve ${words}`

/** A command that says when it runs, and ends when it is told to. */
function waiting({ user }: Person, name: string) {
  const [ready, go] = [path.join(user.home, `${name}-ready`), path.join(user.home, `${name}-go`)]
  const line = `touch '${ready}'; while ! test -e '${go}'; do sleep 0.05; done`
  return {
    input: { repo: user.dir, task: name, create: true, command: ['sh', '-c', line] },
    begun: () => until(() => existsSync(ready), 'the command runs'),
    letGo: () => writeFileSync(go, ''),
  }
}

tryHints(import.meta.filename, [
  {
    name: 'a daemon that cannot listen so',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { home } = user.user
      await hint(
        'cli/commands/daemon.ts: Only the user can run',
        'offshoot run --task T1 -- offshoot daemon stop',
        {
          shows: /No daemon is running/,
        },
      )
      const taken = await listening()
      const { port } = taken.address() as { port: number }
      await hint('daemon/listen.ts: offshoot serve --port 0', serving(`--port ${port}`), { until: listens })
      taken.close()
      await hint('daemon/address.ts: offshoot serve --port 0', serving('--port many'), { until: listens })
      await hint('daemon/address.ts: A name may stand', serving('--host localhost'), {
        by: () => serves(user, '--host 127.0.0.1 --name localhost --port 0'),
      })
      await hint('daemon/address.ts: Give the name alone', serving('--name http://tower:80'), {
        by: (said) => serves(user, `--port 0 ${/--name \S+/.exec(said)?.[0]}`),
      })
      const [cert, key] = [path.join(home, 'cert.pem'), path.join(home, 'key.pem')]
      const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
      const named = ['-days', '1', '-subj', '/CN=offshoot', '-keyout', key, '-out', cert]
      execFileSync('openssl', [...made, ...named], { stdio: 'ignore' })
      /** The options as the hint has them, with the files that only the user knows. */
      const filled = (said: string) =>
        said
          .slice(said.indexOf('--tls-cert'))
          .replace('--tls-cert FILE', `--tls-cert ${cert}`)
          .replace('--tls-key FILE', `--tls-key ${key}`)
      await hint('cli/commands/serve.ts: Give both', serving(`--tls-cert ${cert}`), {
        by: (said) => serves(user, `--port 0 ${filled(said)}`),
      })
      await hint('cli/commands/serve.ts: Name the certificate', serving('--tls-cert a.pem --tls-key b.pem'), {
        by: () => serves(user, `--port 0 --tls-cert ${cert} --tls-key ${key}`),
      })
      await hint('daemon/listen.ts: Both have to be PEM', serving(`--tls-cert ${key} --tls-key ${cert}`), {
        by: () => serves(user, `--port 0 --tls-cert ${cert} --tls-key ${key}`),
      })
      const wide = '--host 127.0.0.2 --port 0'
      let secure = ''
      await hint('daemon/address.ts: Name a certificate', serving(wide), {
        by: (said) => {
          secure = filled(said)
        },
      })
      await hint('daemon/address.ts: Make one first', serving(`${wide} ${secure}`), {
        shows: /./,
        by: () => serves(user, `${wide} ${secure}`),
      })
      await hint('daemon/address.ts: Say which name', serving(`--host 0.0.0.0 --port 0 ${secure}`), {
        // Not typed as it is: nothing here listens to other machines.
        by: (said) => serves(user, `${wide} ${secure} ${/--name \S+/.exec(said)?.[0]}`),
      })
      const socket = path.join(stateOf(user), 'daemon.sock')
      writeFileSync(socket, 'mine')
      await hint('daemon/listen.ts: Move it away', serving('--port 0'), {
        by: async (said) => {
          renameSync(said.split(': ')[1] ?? '', path.join(home, 'mine'))
          await serves(user, '--port 0')
        },
      })
      const locks = path.join(stateOf(user), 'locks')
      const lock = readdirSync(locks).find((one) => one.startsWith('daemon')) ?? ''
      const db = new DatabaseSync(path.join(locks, lock))
      db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
      await hint('cli/commands/serve.ts: Wait a moment', serving('--port 0'), {
        by: async () => {
          db.close()
          await serves(user, '--port 0')
        },
      })
      const long = path.join(home, 'a-very-long-name-of-a-state-folder'.repeat(3))
      const name = createHash('sha256').update(long).digest('hex').slice(0, 16)
      const runtime = path.join(home, 'runtime')
      mkdirSync(runtime, { mode: 0o700 })
      const inTheWay = path.join(runtime, `offshoot-${process.geteuid?.() ?? 0}-${name}`)
      writeFileSync(inTheWay, '')
      const far = user.with({ OFFSHOOT_HOME: long, XDG_RUNTIME_DIR: runtime })
      await far.hint('compose/daemon.ts: Move it away', serving('--port 0'), {
        by: async () => {
          await serves(far.with({ OFFSHOOT_HOME: path.join(home, 'short') }), '--port 0')
          rmSync(inTheWay)
          await serves(far, '--port 0')
        },
      })
    },
  },
  {
    name: 'tokens',
    async play(meet) {
      const user = meet()
      const { hint } = user
      await user.do('offshoot start T1')
      await hint(
        'core/verbs/token-create.ts: offshoot token create --scope look, or',
        'offshoot token create',
        {
          shows: /Valid until/,
        },
      )
      await hint(
        'core/verbs/token-create.ts: offshoot token create --scope look --days 30',
        'offshoot token create --scope look --days 0',
        { shows: /Valid until/ },
      )
      await hint('cli/commands/token.ts: Valid until', 'offshoot token create --scope look --name mine', {
        shows: /Revoked/,
      })
      await hint('core/verbs/token-revoke.ts: offshoot token list', 'offshoot token revoke none', {
        shows: /look/,
      })
      writeFileSync(path.join(stateOf(user), 'tokens.json'), 'damaged')
      await hint('core/tokens/tokens.ts: Make new tokens', 'offshoot token list', {
        shows: /Valid until/,
        worksNow: true,
      })
    },
  },
  {
    name: 'requests over HTTP',
    async play(meet) {
      const user = meet()
      const { follow } = user
      const { dir, home } = user.user
      await user.do('offshoot start T1')
      await user.do(
        `git init --quiet ${home}/other && git -C ${home}/other commit --quiet --allow-empty -m one && offshoot -C ${home}/other start T1`,
      )
      const daemon = await startDaemon(user.user)
      try {
        const { call, send } = daemon
        const hintOf = async (action: string, input: object, more?: { token?: string; key?: string }) =>
          String((await call(action, input, more)).json.error.hint)
        const works = async (action: string, input: object, more?: { token?: string; key?: string }) =>
          expect((await call(action, input, more)).json).toMatchObject({ ok: true })
        const document = async (said: string, holds: string) => {
          const [, target = ''] = /GET (\S+)/.exec(said) ?? []
          const headers = { authorization: `Bearer ${daemon.token}` }
          expect((await send(target, { headers })).text).toContain(holds)
        }
        await follow('daemon/perform.ts: GET /openapi.json lists', await hintOf('task.frobnicate', {}), {
          by: (said) => document(said, '/api/task.show'),
        })
        await follow('daemon/perform.ts: GET /openapi.json says', await hintOf('task.show', { repo: 5 }), {
          by: (said) => document(said, 'repo'),
        })
        const shown = { repo: 'repo', task: 'T1' }
        await follow('daemon/perform.ts: The daemon is in no folder', await hintOf('task.show', shown), {
          by: () => works('task.show', { ...shown, repo: dir }),
        })
        await follow('daemon/perform.ts: docs/daemon.md lists', await hintOf('worktree.get', { x: 1 }), {
          by: (said) => {
            const file = path.resolve(import.meta.dirname, '../..', said.split(' ')[0] ?? '')
            expect(readFileSync(file, 'utf8')).toContain('worktree.get')
          },
        })
        const { json: known } = await call('system.repos', {})
        const ids: string[] = known.repos.map(({ id }: { id: string }) => id)
        const oneOf = (said: string) => {
          expect(said).toContain('system.repos')
          return { repository_id: ids[0] }
        }
        await follow(
          'api/meant.ts: Give repository_id',
          await hintOf('orchestrator.start', { prompt: 'Do it' }),
          {
            by: async (said) => {
              await works('worktree.list', oneOf(said))
              await works('worktree.list', { repository_path: dir })
            },
          },
        )
        await follow(
          'api/meant.ts: system.repos lists',
          await hintOf('worktree.get', { repository_id: 'none', task_id: 'T1' }),
          {
            by: async (said) => {
              await works('worktree.get', { ...oneOf(said), task_id: 'T1' })
              await works('worktree.get', { repository_path: dir, task_id: 'T1' })
            },
          },
        )
        const { json: listed } = await call('task.show', { repo: dir, task: 'T1' })
        await follow('api/meant.ts: Say which repository', await hintOf('worktree.get', { task_id: 'T1' }), {
          by: async () => {
            await works('worktree.get', { repository_id: ids[0], task_id: 'T1' })
            await works('worktree.get', { task_id: listed.task.uid })
          },
        })
        const step = { repo: dir, task: 'T1' }
        await follow(
          'daemon/once.ts: Take 1 to 128',
          await hintOf('task.checkpoint', step, { key: 'a key' }),
          {
            by: () => works('task.checkpoint', step, { key: crypto.randomUUID() }),
          },
        )
        const key = crypto.randomUUID()
        await works('task.checkpoint', step, { key })
        await follow(
          'daemon/once.ts: Take a new',
          await hintOf('task.checkpoint', { ...step, tool: 'x' }, { key }),
          {
            by: () => works('task.checkpoint', { ...step, tool: 'x' }, { key: crypto.randomUUID() }),
          },
        )
        const headers = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' }
        const posted = (target: string, body: string) => send(target, { method: 'POST', headers, body })
        const broken = await posted('/api/task.list', 'no JSON')
        await follow('daemon/http.ts: Send one JSON', String(broken.json.error.hint), {
          by: async () =>
            expect((await posted('/api/task.list', JSON.stringify({ repo: dir }))).json.ok).toBe(true),
        })
        const nonce = await posted('/prove', JSON.stringify({ nonce: '!' }))
        await follow('daemon/ways.ts: Take 16 to 128', String(nonce.json.error.hint), {
          by: async () => {
            const { json } = await posted('/prove', JSON.stringify({ nonce: 'abcdefghijklmnop' }))
            expect(json.proof).toMatch(/^[0-9a-f]{64}$/)
          },
        })
        await follow(
          'core/verbs/token-create.ts: Name the repository',
          await hintOf('token.create', { task: 'T1' }),
          { by: () => works('token.create', { task: 'T1', repo: dir }) },
        )
        const { token } = (await user.do('offshoot token create --task T1 --json')).json
        await user.do('offshoot reject T1')
        await follow('api/caller.ts: The task is closed', await hintOf('task.show', step, { token }), {
          by: async () => {
            await user.do('offshoot undo')
            await works('task.show', step, { token })
          },
        })
      } finally {
        await daemon.stop()
      }
    },
  },
  {
    name: 'requests over a WebSocket',
    async play(meet) {
      const user = meet()
      const { follow } = user
      const { dir } = user.user
      await user.do('offshoot start T1')
      const home = stateOf(user)
      const missing: unknown = await connectToDaemon(home).catch((thrown: unknown) => thrown)
      let daemon: TestDaemon | undefined
      await follow('client/daemon-socket.ts: Start it', appError(missing).hint, {
        // Whoever has that port here is another program, and the command says so.
        only: /^$/,
        by: async (said) => {
          const line = /offshoot serve/.exec(said)?.[0] ?? ''
          const typed = await user.interrupt(line, (shown) => /Listening on|--port 0/.test(shown))
          expect(typed.stdout + typed.stderr).toMatch(/Listening on|--port 0/)
          daemon = await startDaemon(user.user)
        },
      })
      if (!daemon) throw new Error('There is no daemon.')
      try {
        const socket = await openTestSocket(daemon)
        const list = { repo: dir }
        const document = (said: string) => {
          const file = path.resolve(import.meta.dirname, '../..', said.split(' ')[0] ?? '')
          expect(readFileSync(file, 'utf8')).toContain('subscribe')
        }
        const wrong = await socket.request('subscribe', { since: 'x' })
        await follow('protocol/envelope.ts: docs/daemon.md says', wrong.error.hint, { by: document })
        const none = await socket.request('subscribe', { repos: ['none'] })
        await follow('api/follow.ts: system.repos lists', none.error.hint, {
          by: async () => {
            const { payload } = await socket.request('system.repos', {})
            expect(await socket.request('subscribe', { repos: [payload.repos[0].id] })).toMatchObject({
              type: 'response',
            })
            expect(await socket.request('subscribe', { repos: [dir] })).toMatchObject({ type: 'response' })
          },
        })
        socket.ws.send('{"id":"odd"}')
        const odd = await socket.answer('odd')
        await follow('protocol/envelope.ts: Send {"id"', odd.error.hint, {
          by: async () =>
            expect(await socket.request('task.list', list)).toMatchObject({ payload: { ok: true } }),
        })
        const many = Array.from({ length: 64 }, () => socket.send('system.doctor', list))
        const refused = await socket.heard(({ id, type }) => type === 'error' && many.includes(id))
        await follow('daemon/connection.ts: Wait for an answer', refused.error.hint, {
          by: async () => {
            for (const id of many) await socket.answer(id)
            expect(await socket.request('task.list', list)).toMatchObject({ payload: { ok: true } })
          },
        })
        const busy = waiting(user, 'B1')
        const run = socket.send('task.run', busy.input)
        await busy.begun()
        daemon.child.kill('SIGTERM')
        await until(() => daemon?.said() !== undefined && !existsSync(daemon.socket), 'it stops')
        const late = await socket.request('task.list', list)
        await follow('daemon/connection.ts: Ask again', late.error.hint, {
          by: async () => {
            busy.letGo()
            await socket.answer(run)
            await daemon?.ended()
            daemon = await startDaemon(user.user)
            const again = await openTestSocket(daemon)
            expect(await again.request('task.list', list)).toMatchObject({ payload: { ok: true } })
            again.ws.terminate()
          },
        })
      } finally {
        await daemon.stop()
      }
    },
  },
  {
    name: 'requests of our own client',
    async play(meet) {
      const user = meet()
      const { follow } = user
      const { dir } = user.user
      await user.do('offshoot start T1')
      let daemon = await startDaemon(user.user)
      try {
        const list = { repo: dir }
        const hintOf = (asked: Promise<unknown>) =>
          asked.then(
            () => 'it worked',
            (thrown: unknown) => (thrown as { hint: string }).hint,
          )
        const open = () => openSocket({ connect: () => connectToDaemon(stateOf(user)) })
        const first = open()
        const cancelled = await hintOf(first.request('task.list', list, { signal: AbortSignal.abort() }))
        await follow('client/socket.ts: Ask again', cancelled, {
          by: () => first.request('task.list', list),
        })
        first.close()
        const second = open()
        await follow('client/socket.ts: Open a new one', await hintOf(first.request('task.list', list)), {
          by: () => second.request('task.list', list),
        })
        const made = (await user.do('offshoot token create --scope look --json')).json
        const connectWith = (token: string) =>
          openSocket({
            connect: () =>
              new WebSocket(`ws://127.0.0.1:${daemon.port}/ws`, {
                headers: { authorization: `Bearer ${token}` },
              }) as Channel,
          })
        const other = connectWith(made.token)
        await other.request('task.list', list)
        await user.do(`offshoot token revoke ${made.id}`)
        const fresh = (said: string) => `${/offshoot token create.*/.exec(said)?.[0]} --json`
        await follow('client/socket.ts: Make a new one', await hintOf(other.request('task.list', list)), {
          shows: /Valid until/,
          by: async (said) => {
            const again = connectWith((await user.do(fresh(said))).json.token)
            await again.request('task.list', list)
            again.close()
          },
        })
        const lost = waiting(user, 'L1')
        const asked = hintOf(second.request('task.run', lost.input))
        await lost.begun()
        await daemon.stop('SIGKILL')
        daemon = await startDaemon(user.user)
        await follow('client/socket.ts: Look at the task', await asked, {
          by: () => second.request('task.show', { ...list, task: 'L1' }),
        })
        second.close()
      } finally {
        await daemon.stop()
      }
    },
  },
])
