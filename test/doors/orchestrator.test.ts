import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { isRunning, until } from '../support/processes.ts'
import { offshoot, tempFolder, type TestRepo, testRepo } from '../support/repo.ts'
import { openTestSocket } from '../support/socket.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { withEnv } from '../support/workspace.ts'

/** Repositories of one user, with one state folder. */
function reposOf(count: number, env: Record<string, string> = {}): TestRepo[] {
  const first = withStandIn(withEnv(testRepo(), env))
  const others = Array.from({ length: count - 1 }, () => testRepo({ 'a.txt': 'one\n' }, tempFolder()))
  return [first, ...others.map((repo) => ({ ...repo, env: first.env, home: first.home }))]
}

async function daemonOf(repo: TestRepo): Promise<TestDaemon> {
  const daemon = await startDaemon(repo)
  onTestFinished(async () => {
    goOn(repo, 'T1', 'T2', 'T3', 'T4', 'T5')
    daemon.child.kill('SIGKILL')
    await until(() => !isAnythingOf(repo), 'nothing of the test is at work')
  })
  return daemon
}

/** Whether a process has the state folder of the test in its environment: runs outlive their daemon. */
function isAnythingOf(repo: TestRepo): boolean {
  const mark = `OFFSHOOT_HOME=${repo.env.OFFSHOOT_HOME}\0`
  return readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark)
    } catch {
      return false
    }
  })
}

/** A command that notes when it begins and ends, and waits in between for its file. */
function gated(repo: TestRepo, id: string): string[] {
  const notes = path.join(repo.home, 'notes')
  const go = path.join(repo.home, `go-${id}`)
  const script = [
    `echo "begin ${id}" >> '${notes}'`,
    `echo half > ${id}.txt`,
    `while ! test -e '${go}' && test -e '${repo.home}'; do sleep 0.05; done`,
    `echo "end ${id}" >> '${notes}'`,
  ]
  return ['sh', '-c', script.join('; ')]
}

const notesOf = (repo: TestRepo): string[] => {
  const file = path.join(repo.home, 'notes')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}
const begun = (repo: TestRepo) => notesOf(repo).flatMap((line) => /^begin (.*)/.exec(line)?.[1] ?? [])
const goOn = (repo: TestRepo, ...ids: string[]) => {
  for (const id of ids) writeFileSync(path.join(repo.home, `go-${id}`), '')
}

const queueOf = async (daemon: TestDaemon) => (await daemon.call('system.queue', {})).json
const showOf = async (daemon: TestDaemon, repo: TestRepo, id: string) =>
  (await daemon.call('task.show', { repo: repo.dir, task: id })).json.task

/** For what runs of the daemon do in their own time; asks it without taking the processor from them. */
async function settled<T>(look: () => Promise<T>, isDone: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await look()
    if (isDone(found)) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const isIdle = ({ waiting, running }: { waiting: unknown[]; running: unknown[] }) =>
  waiting.length + running.length === 0
const detach = (daemon: TestDaemon, repo: TestRepo, id: string, more: object = {}) =>
  daemon.call('task.detach', { repo: repo.dir, task: id, create: true, command: gated(repo, id), ...more })

/** The most that worked at once, by the notes. */
function mostAtOnce(lines: readonly string[], fits: (id: string) => boolean = () => true): number {
  let [now, most] = [0, 0]
  for (const line of lines) {
    const [what, id = ''] = line.split(' ')
    if (!fits(id)) continue
    now += what === 'begin' ? 1 : -1
    most = Math.max(most, now)
  }
  return most
}

describe('D14: the queue of the daemon', () => {
  test('D14: limits hold over several repositories, whatever is queued at once, and all of it is done', async () => {
    const env = { OFFSHOOT_LIMITS_GLOBAL: '3', OFFSHOOT_LIMITS_CONCURRENT: '2', OFFSHOOT_POOL_SIZE: '0' }
    const repos = reposOf(2, env)
    const [one] = repos as [TestRepo]
    const daemon = await daemonOf(one)
    const ids = repos.flatMap((_, n) => [`A${n}`, `B${n}`, `C${n}`])
    goOn(one, ...ids)
    const answers = await Promise.all(ids.map((id) => detach(daemon, repos[Number(id[1])]!, id)))
    for (const { status, json } of answers) expect([status, json.error]).toEqual([200, undefined])
    await until(() => notesOf(one).length === 12, 'all six have ended', 14_000)
    expect(mostAtOnce(notesOf(one))).toBeLessThanOrEqual(3)
    for (const n of ['0', '1']) expect(mostAtOnce(notesOf(one), (id) => id[1] === n)).toBeLessThanOrEqual(2)
  })

  test('D14: the higher priority starts first, list and daemon status show who waits, and stop takes one off', async () => {
    const [repo] = reposOf(1, { OFFSHOOT_LIMITS_GLOBAL: '1', OFFSHOOT_POOL_SIZE: '0' }) as [TestRepo]
    const daemon = await daemonOf(repo)
    const first = await detach(daemon, repo, 'T1')
    expect(first.json).toMatchObject({ ok: true, pid: expect.any(Number), task: { id: 'T1' } })
    const metadata = { ticket: 'SHOP-7', weight: 3 }
    const input = {
      repository_path: repo.dir,
      task_id: 'T2',
      prompt: play({ say: 'I am T2.' }),
      priority: -1,
    }
    const second = await daemon.call('orchestrator.start', { ...input, metadata })
    expect(second.json).toMatchObject({ queued: { agent: 'claude', priority: -1 }, task: { metadata } })
    const third = await offshoot(
      repo,
      'run',
      '--task=T3',
      '--detach',
      '--json',
      '--priority=7',
      '--',
      ...gated(repo, 'T3'),
    )
    expect(third.json).toMatchObject({ queued: { priority: 7, agent: 'sh' } })
    expect((await detach(daemon, repo, 'T4')).json.queued).toMatchObject({ priority: 0 })
    const { waiting, running, kept } = await queueOf(daemon)
    expect(waiting.map(({ task }: { task: string }) => task)).toEqual(['T3', 'T4', 'T2'])
    expect({ running, kept }).toMatchObject({ running: [{ task: 'T1', agent: 'sh' }], kept: true })
    expect((await offshoot(repo, 'list')).stdout).toMatch(/^T4 .* queued /m)
    const status = await offshoot(repo, 'daemon', 'status')
    expect(status.stdout).toMatch(/1 run at work, 3 waiting\n {2}T3 sh, priority 7, /)
    expect((await offshoot(repo, 'stop', 'T4', '--json')).json).toMatchObject({ stopped: true })
    expect((await showOf(daemon, repo, 'T4')).queued).toBeUndefined()
    goOn(repo, 'T1', 'T3')
    await until(() => notesOf(repo).includes('end T3'), 'T3 has ended')
    expect(notesOf(repo)).toEqual(['begin T1', 'end T1', 'begin T3', 'end T3'])
    await settled(() => queueOf(daemon), isIdle)
    expect(await showOf(daemon, repo, 'T2')).toMatchObject({ state: 'completed', runs: 1 })
  })

  test('D14: a follow-up to a task at work waits for its end; what is said meanwhile reaches its agent', async () => {
    const [repo] = reposOf(1, { OFFSHOOT_POOL_SIZE: '0' }) as [TestRepo]
    const daemon = await daemonOf(repo)
    const go = path.join(repo.home, 'go')
    const prompt = play({ sh: `while ! test -e '${go}'; do sleep 0.05; done` }, { say: 'First.' })
    const run = { repo: repo.dir, task: 'T1', create: true }
    expect((await daemon.call('task.detach', { ...run, prompt })).json).toHaveProperty('pid')
    const next = { ...run, create: false, resume: true, prompt: play({ write: 'second.txt' }) }
    expect((await daemon.call('task.detach', next)).json).toMatchObject({ queued: { agent: 'claude' } })
    const said = await daemon.call('task.say', {
      repo: repo.dir,
      task: 'T1',
      text: play({ write: 'said.txt' }),
    })
    expect(said.json).toMatchObject({ ok: true, task: { unheard: 1 } })
    writeFileSync(go, '')
    const look = () => showOf(daemon, repo, 'T1')
    const task = await settled(look, ({ running, queued }) => !running && !queued)
    expect(task).toMatchObject({ state: 'completed', runs: 2 })
    expect(task).not.toHaveProperty('unheard')
    expect(readdirSync(task.path)).toEqual(expect.arrayContaining(['said.txt', 'second.txt']))
  })

  test('D14: a run that cannot begin leaves the queue, and its task says why', async () => {
    const [repo] = reposOf(1, { OFFSHOOT_LIMITS_GLOBAL: '1', OFFSHOOT_POOL_SIZE: '0' }) as [TestRepo]
    const daemon = await daemonOf(repo)
    await detach(daemon, repo, 'T1')
    await detach(daemon, repo, 'T2', { notify: [] })
    writeFileSync(path.join(repo.dir, '.offshoot.yaml'), 'limits: 5\n')
    goOn(repo, 'T1', 'T2')
    const task = await settled(
      () => showOf(daemon, repo, 'T2'),
      ({ queued }) => !queued,
    )
    expect(task).toMatchObject({ state: 'failed', reason: expect.stringContaining('limits') })
  })
})

describe('D15: a daemon that is killed', () => {
  test('D15: leaves its runs at work; the next one counts them, starts what was queued, and saves what died', async () => {
    const [repo] = reposOf(1, { OFFSHOOT_LIMITS_GLOBAL: '3', OFFSHOOT_POOL_SIZE: '0' }) as [TestRepo]
    const first = await daemonOf(repo)
    const [one, two] = await Promise.all([detach(first, repo, 'T1'), detach(first, repo, 'T2')])
    // In the process of the daemon itself.
    const within = { repo: repo.dir, task: 'T3', create: true, command: gated(repo, 'T3') }
    const lost = first.call('task.run', within).catch(() => 'gone')
    await until(() => begun(repo).length === 3, 'three are at work')
    const queued = await Promise.all(['T4', 'T5'].map((id) => detach(first, repo, id)))
    for (const { json } of queued) expect(json).toHaveProperty('queued')
    first.child.kill('SIGKILL')
    process.kill(two.json.pid, 'SIGKILL')
    await lost
    expect(isRunning(one.json.pid)).toBe(true)
    expect((await offshoot(repo, 'daemon', 'status', '--json')).json).toMatchObject({
      running: false,
      queue: { kept: false, waiting: [{ agent: 'sh' }, { agent: 'sh' }], running: [{ task: 'T1' }] },
    })
    const second = await daemonOf(repo)
    await until(() => begun(repo).length === 5, 'the queued ones have begun')
    expect(isRunning(one.json.pid)).toBe(true)
    for (const id of ['T2', 'T3']) {
      expect(await showOf(second, repo, id)).toMatchObject({ state: 'failed', checkpoints: 1 })
      const { json } = await second.call('task.log', { repo: repo.dir, task: id })
      expect(json.checkpoints).toMatchObject([{ files: [{ path: `${id}.txt` }] }])
    }
    goOn(repo, 'T1', 'T4', 'T5')
    await until(() => notesOf(repo).filter((line) => line.startsWith('end')).length === 3, 'all have ended')
    expect(begun(repo)).toHaveLength(5)
    await settled(() => queueOf(second), isIdle)
    for (const id of ['T1', 'T4', 'T5'])
      expect(await showOf(second, repo, id)).toMatchObject({ state: 'completed' })
  })
})

describe('D16: without a next command', () => {
  test('D16: what died is recovered, what is stale is pruned, and a full disk is told', async () => {
    const env = {
      OFFSHOOT_RECOVER_EVERY_MINUTES: '0.01',
      OFFSHOOT_PRUNE_EVERY_HOURS: '0.0002',
      OFFSHOOT_DISK_WARN_PERCENT: '1',
      OFFSHOOT_POOL_SIZE: '0',
    }
    const [repo] = reposOf(1, env) as [TestRepo]
    const daemon = await daemonOf(repo)
    const { json } = await detach(daemon, repo, 'T1')
    await until(() => begun(repo).length === 1, 'it is at work')
    const socket = await openTestSocket(daemon)
    await socket.request('subscribe', { since: 0 })
    const { payload } = await socket.heard(({ action }) => action === 'disk')
    expect(payload).toMatchObject({ full: true, warnPercent: 1 })
    process.kill(json.pid, 'SIGKILL')
    const told = (fits: (event: { type: string; verb?: string }) => boolean) =>
      socket.heard((frame) => frame.action === 'task.event' && fits(frame.payload.event))
    expect((await told(({ type }) => type === 'run.ended')).payload).toMatchObject({
      task: 'T1',
      event: { ok: false, trigger: 'shutdown' },
    })
    const ended = await daemon.call('task.run', {
      repo: repo.dir,
      task: 'T2',
      create: true,
      command: ['touch', 'x'],
    })
    expect(ended.json).toMatchObject({ ok: true })
    expect(
      (await daemon.call('task.accept', { repo: repo.dir, task: 'T2', as: 'squash', keep: true })).json,
    ).toMatchObject({ ok: true })
    const pruned = await told(({ type, verb }) => type === 'operation.begun' && verb === 'prune')
    expect(pruned.payload).toMatchObject({ task: 'T2' })
    socket.ws.close()
    const { json: all } = await offshoot(repo, 'list', '--all', '--json')
    expect(all.tasks).toContainEqual(expect.objectContaining({ id: 'T1', state: 'failed', checkpoints: 1 }))
  })
})

describe('D17: the daemon as a service', () => {
  test('D17: serve --install prints the unit with this command and PATH, and changes nothing', async () => {
    const [repo] = reposOf(1) as [TestRepo]
    const before = new Set(readdirSync(repo.home, { recursive: true, encoding: 'utf8' }))
    const { stdout, stderr, code } = await offshoot(repo, 'serve', '--install=systemd', '--port=0')
    expect(code).toBe(0)
    expect(stdout).toContain(
      `ExecStart="${process.execPath}" "${path.resolve('bin/offshoot.js')}" "serve" "--port=0"`,
    )
    expect(stdout).toContain(`Environment="PATH=${repo.env.PATH}"`)
    expect(stderr).toContain('systemctl --user enable --now offshoot')
    expect((await offshoot(repo, 'serve', '--install=launchd', '--json')).json).toMatchObject({
      kind: 'launchd',
    })
    expect((await offshoot(repo, 'serve', '--install=cron')).code).toBe(2)
    expect(new Set(readdirSync(repo.home, { recursive: true, encoding: 'utf8' }))).toEqual(before)
  })

  test('D17: serve takes the place of an older daemon, whose runs go on, and leaves one of its own version', async () => {
    const [repo] = reposOf(1, { OFFSHOOT_POOL_SIZE: '0' }) as [TestRepo]
    const older = await daemonOf(repo)
    const { json } = await detach(older, repo, 'T1')
    const same = await offshoot(repo, 'serve', '--port', '0', '--json')
    expect(same.json).toMatchObject({ already: true, pid: older.child.pid })
    const file = path.join(repo.env.OFFSHOOT_HOME ?? '', 'daemon.json')
    const note = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...note, version: '0.0.1' }), { mode: 0o600 })
    const newer = await daemonOf(repo)
    expect(await older.ended()).toMatchObject({ code: 0 })
    expect(newer.child.pid).not.toBe(older.child.pid)
    expect(isRunning(json.pid)).toBe(true)
    expect(await queueOf(newer)).toMatchObject({ running: [{ task: 'T1' }] })
    goOn(repo, 'T1')
    await until(() => notesOf(repo).includes('end T1'), 'the run has ended')
  })
})
