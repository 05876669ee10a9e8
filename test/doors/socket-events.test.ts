/** Events over WebSocket: each once, in order, whatever happens to the writers, the daemon and the connection. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openSocket, type SocketState } from '../../src/client/socket.ts'
import { connectToDaemon } from '../../src/client/daemon-socket.ts'
import { type Seen, receive } from '../../src/client/seen.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { runProgram, until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { openTestSocket, type TestSocket } from '../support/socket.ts'

let repo: TestRepo
let daemon: TestDaemon
const uids = new Map<string, string>()

beforeAll(async () => {
  repo = testRepo({ 'a.txt': 'one\n' }, mkdtempSync(path.join(os.tmpdir(), 'offshoot-test-')))
  daemon = await startDaemon(repo)
  for (const task of ['T1', 'T2', 'T3'])
    uids.set(task, (await daemon.call('task.start', { repo: repo.dir, task })).json.task.uid)
})

afterAll(async () => {
  await daemon.stop()
  rmSync(repo.home, { recursive: true, force: true })
})

const state = () => path.join(repo.home, 'state')
const appender = new URL('../support/appender.ts', import.meta.url)

/** Another process that appends so many events to each of the tasks. */
async function append(count: number, ...tasks: string[]): Promise<void> {
  await appendSized(count, { batch: 1, bytes: 10 }, ...tasks)
}

async function appendSized(
  count: number,
  { batch, bytes }: { batch: number; bytes: number },
  ...tasks: string[]
): Promise<void> {
  const names = tasks.map((task) => uids.get(task) ?? '')
  const database = path.join(state(), 'state.db')
  await runProgram(appender, database, String(count), String(batch), String(bytes), ...names).rest()
}

/** Where the log stands. */
async function readLog(): Promise<{ end: number; log: string }> {
  const socket = await openTestSocket(daemon)
  const { payload } = await socket.request('subscribe')
  socket.ws.terminate()
  return { end: payload.seq, log: payload.log }
}

async function subscribed(input: object): Promise<TestSocket> {
  const socket = await openTestSocket(daemon)
  onTestFinished(() => socket.ws.terminate())
  await socket.request('subscribe', input)
  return socket
}

const eventsIn = ({ frames }: TestSocket) => frames.filter(({ action }) => action === 'task.event')
const seqsIn = (socket: TestSocket) => eventsIn(socket).map(({ payload }) => payload.seq as number)
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, n) => first + n)

describe('D11: a subscription', () => {
  test('D11: without since a snapshot comes, and then what happens', async () => {
    const socket = await subscribed({})
    const { payload } = await socket.heard(({ action }) => action === 'snapshot')
    expect(payload).toMatchObject({
      why: 'new',
      repos: [{ path: path.join(repo.dir, '.git'), openTasks: 3 }],
    })
    expect(payload.tasks.map(({ id }: { id: string }) => id).sort()).toEqual(['T1', 'T2', 'T3'])
    await append(1, 'T1')
    const event = await socket.heard(({ action }) => action === 'task.event')
    expect(event.payload).toMatchObject({
      seq: payload.seq + 1,
      prev: payload.seq,
      task: 'T1',
      uid: uids.get('T1'),
      event: { type: 'mended' },
    })
  })

  test('D11: with since every event after it comes, and no snapshot', async () => {
    const { end } = await readLog()
    const socket = await subscribed({ since: 2 })
    await until(() => seqsIn(socket).length === end - 2, 'all have come')
    expect(seqsIn(socket)).toEqual(upTo(end, 3))
    expect(eventsIn(socket)[0].payload.prev).toBe(2)
    expect(socket.frames.some(({ action }) => action === 'snapshot')).toBe(false)
  })

  test('D11: only the repositories and tasks that were asked for, and prev shows no gap', async () => {
    const { end } = await readLog()
    const byTask = await subscribed({ since: end, tasks: ['T2'] })
    const byUid = await subscribed({ since: end, tasks: [uids.get('T2')] })
    const byRepo = await subscribed({ since: end, repos: [repo.dir] })
    const elsewhere = await subscribed({ since: end, repos: [testRepo().dir] })
    await append(3, 'T1', 'T2', 'T3')
    await until(() => seqsIn(byRepo).length === 9, 'all have come')
    for (const socket of [byTask, byUid]) {
      await until(() => seqsIn(socket).length === 3, 'three have come')
      let seen: Seen = { seq: end }
      for (const frame of eventsIn(socket)) {
        const { seen: next, verdict } = receive(seen, frame)
        expect([frame.payload.task, verdict]).toEqual(['T2', 'new'])
        seen = next
      }
    }
    expect(elsewhere.frames.length).toBe(1)
  })

  test('D11: a second subscription takes the place of the first, and the end of it ends it', async () => {
    const { end } = await readLog()
    const socket = await subscribed({ since: 0 })
    await until(() => seqsIn(socket).length === end, 'all have come')
    await socket.request('subscribe', { since: end, tasks: ['T3'] })
    const other = await subscribed({ since: end })
    await append(1, 'T1', 'T3')
    await until(() => seqsIn(socket).length === end + 1, 'the next has come')
    expect(seqsIn(socket).at(-1)).toBe(end + 2)
    await socket.request('unsubscribe')
    await append(1, 'T3')
    await until(() => seqsIn(other).at(-1) === end + 3, 'others hear it')
    expect(seqsIn(socket).length).toBe(end + 1)
  })

  test('D11: of another log, or from after its end, a snapshot comes', async () => {
    const { end } = await readLog()
    for (const input of [{ since: 1, log: 'other' }, { since: end + 1 }]) {
      const socket = await subscribed(input)
      expect(await socket.heard(({ action }) => action === 'snapshot')).toMatchObject({
        payload: { seq: end, why: 'other log' },
      })
    }
  })

  test('D11: when the records were rebuilt, every subscriber gets them anew', async () => {
    const own = testRepo()
    const started = await startDaemon(own)
    onTestFinished(() => void started.child.kill('SIGKILL'))
    const { json: made } = await started.call('task.start', { repo: own.dir, task: 'T1' })
    writeFileSync(path.join(made.task.path, 'b.txt'), 'two\n')
    await started.call('task.checkpoint', { repo: own.dir, task: 'T1' })
    const socket = await openTestSocket(started)
    await socket.request('subscribe')
    const before = await socket.heard(({ action }) => action === 'snapshot')
    const damaged = new DatabaseSync(path.join(own.home, 'state/state.db'))
    damaged.exec("UPDATE events SET event = 'no JSON' WHERE seq = 1")
    damaged.close()
    const { json } = await started.call('task.repair', { repo: own.dir, rebuild: true })
    expect(json).toMatchObject({ ok: true, rebuilt: { aside: expect.any(String), tasks: ['T1'] } })
    const { payload } = await socket.heard(({ action }) => action === 'reset')
    expect(payload).toMatchObject({ why: 'other log' })
    expect(payload.log).not.toBe(before.payload.log)
    await started.call('task.start', { repo: own.dir, task: 'T2' })
    const eventOf = (task: string) =>
      socket.heard((frame) => frame.action === 'task.event' && frame.payload.task === task)
    // It may have come in the middle of the rebuilding: the rest follows as events.
    expect(payload.tasks[0] ?? (await eventOf('T1')).payload).toBeDefined()
    expect((await eventOf('T2')).payload.prev).toBeGreaterThanOrEqual(payload.seq)
    const [, ...after] = socket.frames.filter(({ payload: { seq } = {} as never }) => seq !== undefined)
    let seen: Seen = { seq: before.payload.seq, log: before.payload.log }
    for (const frame of after.filter(({ type }) => type === 'notification')) {
      const { seen: next, verdict } = receive(seen, frame)
      expect(verdict).toBe('new')
      seen = next
    }
  })
})

test('D11: two writers, a daemon that is killed and connections that break: each event once, in order', async () => {
  const { end } = await readLog()
  let seen: Seen = { seq: end }
  const taken: number[] = []
  let connections = 0
  let isOver = false
  /** A client that reconnects whenever its connection ends, which it does itself now and then. */
  const client = (async () => {
    while (!isOver) {
      const socket = await openTestSocket(daemon).catch(() => undefined)
      if (!socket) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        continue
      }
      connections += 1
      const most = 1 + Math.floor(Math.random() * 150)
      const until = taken.length + most
      socket.send('subscribe', { since: seen.seq, ...(seen.log !== undefined && { log: seen.log }) })
      socket.ws.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString('utf8'))
        if (frame.action !== 'task.event' || taken.length >= until) return
        const { seen: next, verdict } = receive(seen, frame)
        expect(verdict).toBe('new')
        seen = next
        taken.push(frame.payload.seq)
        if (taken.length >= until) socket.ws.terminate()
      })
      await socket.closed
    }
  })()
  const writers = [append(250, 'T1', 'T2'), append(500, 'T3')]
  for (let round = 0; round < 2; round++) {
    const before = taken.length
    await until(() => taken.length > before + 100, 'some events have come', 60_000)
    await daemon.stop('SIGKILL')
    daemon = await startDaemon(repo)
  }
  await Promise.all(writers)
  await daemon.call('task.checkpoint', { repo: repo.dir, task: 'T1' })
  const { end: last } = await readLog()
  expect(last - end).toBeGreaterThanOrEqual(1000)
  await until(() => taken.at(-1) === last, 'all have come', 60_000)
  isOver = true
  await daemon.stop()
  await client
  daemon = await startDaemon(repo)
  expect(taken).toEqual(upTo(last, end + 1))
  expect(connections).toBeGreaterThan(5)
})

/** In megabytes, as the daemon tells it: its memory, and what clients have not taken yet. */
async function measure(): Promise<{ memory: number; waiting: number }> {
  const { text } = await daemon.send('/metrics', { headers: { authorization: `Bearer ${daemon.token}` } })
  const read = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]) / 1024 / 1024
  return { memory: read('process_resident_memory_bytes'), waiting: read('offshoot_socket_waiting_bytes') }
}

test('D11: clients that do not read cost next to nothing, hold up nobody, and catch up', async () => {
  const { end } = await readLog()
  const slow: TestSocket[] = []
  for (let n = 0; n < 10; n++) {
    const socket = await subscribed({ since: end })
    socket.ws.pause()
    slow.push(socket)
  }
  const quick = await subscribed({ since: end })
  const before = await measure()
  const [count, bytes] = [9000, 2000]
  await appendSized(count / 3, { batch: 20, bytes }, 'T1', 'T2', 'T3')
  await until(() => eventsIn(quick).length === count, 'who reads has all', 60_000)
  const { memory, waiting } = await measure()
  const grown = memory - before.memory
  const unread = (slow.length * count * (bytes + 250)) / 1024 / 1024
  console.log(
    `${slow.length} clients have not read ${unread.toFixed(0)} MB: ${waiting.toFixed(0)} MB wait, ${grown.toFixed(0)} MB more memory`,
  )
  expect(waiting).toBeGreaterThan(slow.length * 0.9)
  expect(waiting).toBeLessThan(slow.length * 1.1)
  expect(grown).toBeLessThan(unread * 0.6)
  for (const { ws } of slow) ws.resume()
  for (const socket of slow) {
    await until(() => eventsIn(socket).length === count, 'it has caught up', 60_000)
    expect(seqsIn(socket)).toEqual(upTo(end + count, end + 1))
  }
}, 300_000)

test('D11: from a checkpoint to the notification', async () => {
  const { json } = await daemon.call('task.show', { repo: repo.dir, task: 'T1' })
  const { end } = await readLog()
  const socket = await subscribed({ since: end })
  const times: Record<'daemon' | 'command', number[]> = { daemon: [], command: [] }
  for (let n = 0; n < 30; n++) {
    const by = n % 2 === 0 ? 'daemon' : 'command'
    writeFileSync(path.join(json.task.path, 'a.txt'), `${n}\n`)
    const taken =
      by === 'daemon'
        ? daemon.call('task.checkpoint', { repo: repo.dir, task: 'T1' })
        : offshoot(repo, 'checkpoint', 'T1')
    const frame = await socket.heard(
      ({ action, payload }) =>
        action === 'task.event' && payload.event.type === 'checkpoint' && payload.event.n > n,
    )
    times[by].push(Date.now() - Date.parse(frame.payload.at))
    await taken
  }
  for (const [by, taken] of Object.entries(times)) {
    const sorted = taken.toSorted((one, other) => one - other)
    console.log(`checkpoint by the ${by} → notification: p50 ${sorted[7]} ms, most ${sorted.at(-1)} ms`)
  }
  expect(seqsIn(socket)).toEqual(upTo(seqsIn(socket).at(-1) ?? 0, end + 1))
})

describe('D11: our own client', () => {
  test('D11: goes on after a restart of the daemon, with every event once and its requests answered', async () => {
    const states: SocketState[] = []
    const client = openSocket({
      connect: () => connectToDaemon(state()),
      onState: (now) => void states.push(now),
    })
    onTestFinished(() => client.close())
    const seqs: number[] = []
    let snapshots = 0
    client.subscribe({}, { onSnapshot: () => void snapshots++, onEvent: ({ seq }) => void seqs.push(seq) })
    await until(() => snapshots === 1, 'the snapshot has come')
    await append(5, 'T1')
    await until(() => seqs.length === 5, 'events have come')
    await daemon.stop('SIGKILL')
    await append(5, 'T2')
    const asked = client.request('task.list', { repo: repo.dir })
    await until(() => states.at(-1) === 'offline' || states.at(-1) === 'connecting', 'it has noticed')
    daemon = await startDaemon(repo)
    expect(await asked).toMatchObject({ ok: true })
    await append(5, 'T3')
    await until(() => seqs.length === 15, 'all have come')
    expect(seqs).toEqual(upTo(seqs[0]! + 14, seqs[0]))
    expect(snapshots).toBe(1)
    expect(states.filter((one) => one === 'live').length).toBe(2)
  })

  test('D9: an error is thrown with its code, an abort cancels, and output is heard', async () => {
    const client = openSocket({ connect: () => connectToDaemon(state()) })
    onTestFinished(() => client.close())
    await expect(client.request('task.show', { repo: repo.dir, task: 'NONE' })).rejects.toMatchObject({
      code: 'WT_007',
      hint: expect.any(String),
    })
    const stop = new AbortController()
    let heard = ''
    const command = ['sh', '-c', 'echo begun; while :; do sleep 0.05; done']
    const run = client.request(
      'task.run',
      { repo: repo.dir, task: 'T1', create: false, command },
      { signal: stop.signal, onOutput: (output) => void (heard += JSON.stringify(output)) },
    )
    await until(() => heard.includes('begun'), 'it has begun')
    stop.abort()
    await expect(run).rejects.toMatchObject({ code: 'WT_021' })
  })

  test('D6: what writes is not sent to a daemon that knows nothing of the first time', async () => {
    const client = openSocket({ connect: () => connectToDaemon(state()) })
    onTestFinished(() => client.close())
    const ready = path.join(repo.home, 'lost-ready')
    const command = ['sh', '-c', `touch '${ready}'; sleep 60`]
    const run = client.request('task.run', { repo: repo.dir, task: 'T2', create: false, command })
    const lost = expect(run).rejects.toMatchObject({ code: 'unknown' })
    await until(() => existsSync(ready), 'it runs')
    await daemon.stop('SIGKILL')
    daemon = await startDaemon(repo)
    await lost
  })
})
