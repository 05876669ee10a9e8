/** The daemon keeps the forecast up to date, and tells who subscribes to it what changes. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Forecast } from '../../src/core/landing/forecast.ts'
import { findForecast } from '../../src/core/landing/forecast-file.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { openTestSocket, type TestSocket } from '../support/socket.ts'
import { vaultDir } from '../support/vault.ts'
import { lines } from '../support/worked.ts'

async function served(): Promise<{ user: TestRepo; daemon: TestDaemon }> {
  const user = testRepo({ 'a.txt': lines(), 'b.txt': lines(), 'c.txt': lines() })
  const daemon = await startDaemon(user)
  onTestFinished(async () => {
    expect((await daemon.stop()).code).toBe(0)
    rmSync(user.home, { recursive: true, force: true })
  })
  return { user, daemon }
}

/** By a process of its own, as an agent's. */
async function stepOf(user: TestRepo, task: string, files: Record<string, string>): Promise<void> {
  const { json } = await offshoot(user, 'start', task, '--json')
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(json.task.path, name), content)
  expect((await offshoot(user, 'checkpoint', task)).code).toBe(0)
}

async function subscribed(daemon: TestDaemon, input = {}): Promise<TestSocket> {
  const socket = await openTestSocket(daemon)
  onTestFinished(() => socket.ws.terminate())
  await socket.request('subscribe', { forecast: true, ...input })
  return socket
}

const changesIn = ({ frames }: TestSocket) =>
  frames.filter(({ action }) => action === 'forecast.changed').map(({ payload }) => payload)

/** What a client knows that has applied every change. */
function knownBy(socket: TestSocket) {
  const [tasks, pairs] = [new Map(), new Map()]
  for (const change of changesIn(socket)) {
    if (change.whole) for (const known of [tasks, pairs]) known.clear()
    for (const one of change.tasks) tasks.set(one.task, one)
    for (const pair of change.pairs) pairs.set(`${pair.first} ${pair.second}`, pair)
    for (const gone of change.gone) {
      tasks.delete(gone)
      for (const key of pairs.keys()) if (key.split(' ').includes(gone)) pairs.delete(key)
    }
    for (const [key, { level }] of pairs) if (level === 'none') pairs.delete(key)
  }
  return { tasks, pairs }
}

describe('F7: the daemon', () => {
  test('F7: tells what changes after a step, a commit on the target, an edit of the user’s, a landing and a reject', async () => {
    const { user, daemon } = await served()
    await stepOf(user, 'T1', { 'a.txt': lines({ 3: 'T1' }) })
    const socket = await subscribed(daemon)
    await until(() => knownBy(socket).tasks.get('T1')?.step === 1, 'T1 is known')
    expect(changesIn(socket)[0]).toMatchObject({ whole: true, checkout: user.dir, gone: [] })

    await stepOf(user, 'T2', { 'a.txt': lines({ 3: 'T2' }), 'b.txt': lines({ 3: 'T2' }) })
    await until(() => knownBy(socket).pairs.get('T1 T2')?.level === 'conflict', 'the pair conflicts')
    expect(changesIn(socket).at(-1)).toMatchObject({ whole: false, tasks: [{ task: 'T2', step: 1 }] })

    user.write('b.txt', lines({ 3: 'main' }))
    user.git('commit', '--quiet', '--all', '--message=Move on')
    await until(() => knownBy(socket).tasks.get('T2')?.target.level === 'conflict', 'the target has moved')

    user.write('a.txt', lines({ 3: 'mine' }))
    await until(() => knownBy(socket).tasks.get('T1')?.checkout.level === 'conflict', 'the user has edited')

    user.git('checkout', '--', 'a.txt')
    await until(() => knownBy(socket).tasks.get('T1')?.checkout.level === 'none', 'the edit is gone')
    expect((await offshoot(user, 'accept', 'T1')).code).toBe(0)
    await until(() => !knownBy(socket).tasks.has('T1'), 'T1 has landed')
    await until(
      () => knownBy(socket).tasks.get('T2')?.checkout.conflicts.length === 2,
      'T2 conflicts with what has landed',
    )
    const { json } = await daemon.call('task.forecast', { repo: user.dir })
    const { tasks, pairs } = knownBy(socket)
    expect([[...tasks.values()], [...pairs.values()]]).toEqual([json.tasks, json.pairs])
    expect((await offshoot(user, 'reject', 'T2')).code).toBe(0)
    await until(() => !knownBy(socket).tasks.has('T2'), 'T2 was rejected')
  })

  test('F7: what changes nothing is not told, and other repositories are left out', async () => {
    const { user, daemon } = await served()
    const socket = await subscribed(daemon, { repos: [user.dir] })
    const elsewhere = await subscribed(daemon, { repos: [testRepo().dir] })
    await stepOf(user, 'T1', { 'a.txt': lines({ 3: 'T1' }) })
    await until(() => knownBy(socket).tasks.get('T1')?.step === 1, 'T1 is known')
    const told = changesIn(socket).length
    // The forecast is made again, and says the same.
    const before = keptBy(user)?.at ?? ''
    user.write('a.txt', lines())
    await until(() => (keptBy(user)?.at ?? '') > before, 'it was made again')
    expect(changesIn(socket).length).toBe(told)
    expect(changesIn(elsewhere)).toEqual([])
  })

  test('F7: keeps the marks of list up to date while nobody subscribes', async () => {
    const { user } = await served()
    await stepOf(user, 'T1', { 'a.txt': lines({ 3: 'T1' }) })
    await stepOf(user, 'T2', { 'a.txt': lines({ 3: 'T2' }) })
    await until(() => keptBy(user)?.pairs.length === 1, 'the pair is known')
    expect((await offshoot(user, 'list', '--json')).json.forecast.marks).toEqual([
      { task: 'T2', conflicts: ['T1'], outdated: false },
      { task: 'T1', conflicts: ['T2'], outdated: false },
    ])
  })
})

/** The forecast that `list` reads. */
function keptBy(user: TestRepo): Forecast | undefined {
  const file = path.join(vaultDir(user), 'forecast.json')
  return existsSync(file) ? findForecast(readFileSync(file, 'utf8')) : undefined
}
