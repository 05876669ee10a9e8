/** D13: with a daemon the command lets it play the line, and nobody can tell but by the time. */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { daemonFile, daemonLogFile } from '../../src/core/model/layout.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { killHard } from '../support/processes.ts'
import { openPty } from '../support/pty.ts'
import { offshoot, type Outcome, tempFolder, type TestRepo, testRepo } from '../support/repo.ts'
import { noTerminal } from '../support/terminal.ts'

/** A user whose environment says nothing about git or offshoot, as most people's. */
function plainUser(folder = tempFolder()): TestRepo {
  const repo = testRepo({ 'a.txt': 'one\n' }, folder)
  const { PATH = '', HOME = '', TMPDIR = '', OFFSHOOT_HOME = '' } = repo.env
  writeFileSync(path.join(HOME, '.gitconfig'), '[user]\nname = User\nemail = user@example.com\n')
  mkdirSync(path.join(HOME, '.config/offshoot'), { recursive: true })
  writeFileSync(path.join(HOME, '.config/offshoot/config.yaml'), 'pool:\n  size: 0\n')
  return { ...repo, env: { PATH, HOME, TMPDIR, OFFSHOOT_HOME } }
}

/** The same user, whose command does everything by itself. */
const alone = (repo: TestRepo): TestRepo => ({ ...repo, env: { ...repo.env, OFFSHOOT_POOL_SIZE: '0' } })

/** How many lines the daemon has played. */
function played({ env }: TestRepo): number {
  const log = readFileSync(daemonLogFile(env.OFFSHOOT_HOME ?? ''), 'utf8')
  return log.split('\n').filter((line) => line.includes('"msg":"line"')).length
}

async function startServed(repo: TestRepo): Promise<TestDaemon> {
  const daemon = await startDaemon(repo)
  onTestFinished(async () => {
    if (daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.stop()
  })
  return daemon
}

async function workOn(repo: TestRepo, task: string, file: string, content: string): Promise<void> {
  const { json } = await offshoot(alone(repo), 'start', task, '--json')
  writeFileSync(path.join(json.task.path, file), content)
}

describe('D13: what is printed', () => {
  let repo: TestRepo
  let daemon: TestDaemon
  beforeAll(async () => {
    repo = plainUser(mkdtempSync(path.join(os.tmpdir(), 'offshoot-test-')))
    await workOn(repo, 'T1', 'x.txt', 'x\n')
    await offshoot(alone(repo), 'checkpoint', 'T1')
    await offshoot(alone(repo), 'start', 'T2')
    daemon = await startDaemon(repo)
  })
  afterAll(async () => {
    await daemon.stop()
    rmSync(repo.home, { recursive: true, force: true })
  })

  test.each(
    [
      [],
      ['status'],
      ['list'],
      ['list', '--json'],
      ['list', '--all', '--state', 'active'],
      ['list', '--help'],
      ['list', '--wrong'],
      ['list', 'too', 'many'],
      ['show', 'T1'],
      ['show', '-'],
      ['show', 'NOPE'],
      ['show', 'NOPE', '--json'],
      ['log', 'T1'],
      ['log', 'T1', '--json'],
      ['diff', 'T1'],
      ['diff', 'T1', '--stat'],
      ['diff', 'T1', '--step', '9'],
      ['checkpoint', 'T1'],
      ['accept', 'T1', '--dry-run'],
      ['accept', 'NOPE', '--quiet'],
      ['rewind', 'T1', '--to', '7'],
      ['undo', 'nothing'],
    ].map((words) => ({ line: words.join(' '), words })),
  )('offshoot $line', async ({ words }) => {
    const before = played(repo)
    const byDaemon = await offshoot(repo, ...words)
    expect(played(repo)).toBe(before + 1)
    const itself = await offshoot(alone(repo), ...words)
    expect(played(repo)).toBe(before + 1)
    expect(byDaemon).toEqual(itself)
  })
})

/** Names and times that differ from one repository to the other. */
const leveled = ({ code, stdout, stderr }: Outcome, { home }: TestRepo) => ({
  code,
  text: `${stdout}${stderr}`
    .replaceAll(home, 'HOME')
    .replaceAll(/\b[0-9a-f]{10}\b/g, 'COMMIT')
    .replaceAll(/undo \w{6}\b/g, 'undo ID')
    .replaceAll(/\w+-\d{8}-\d{6}/g, 'FOLDER')
    .replaceAll(/repo-\w{8}/g, 'REPO'),
})

test('D13: a day of verbs comes to the same, and prints the same', async () => {
  const [served, other] = [plainUser(), plainUser()]
  await startServed(served)
  const lines = [
    ['checkpoint', 'T1'],
    ['accept', 'T1'],
    ['undo'],
    ['list'],
    ['rewind', 'T1', '--to', '0'],
    ['reject', 'T1'],
    ['undo'],
    ['accept', 'T1', '--as', 'squash', '-m', 'Land it'],
    ['status'],
  ]
  for (const repo of [served, other]) await workOn(repo, 'T1', 'x.txt', 'x\n')
  for (const line of lines) {
    const [byDaemon, itself] = [await offshoot(served, ...line), await offshoot(other, ...line)]
    expect(leveled(byDaemon, served), line.join(' ')).toEqual(leveled(itself, other))
  }
  expect(played(served)).toBe(lines.length)
})

describe('D13: a line that needs the user’s own surroundings is not handed over', () => {
  test.each<[string, Record<string, string>, string[]]>([
    ['settings in variables', { OFFSHOOT_ACCEPT_STRATEGY: 'squash' }, []],
    ['an author in variables', { GIT_AUTHOR_NAME: 'Other' }, []],
    ['another PATH', { PATH: `/nowhere:${process.env.PATH}` }, []],
    ['a build', { CI: 'true' }, []],
    ['a folder that is named', {}, ['-C', '.']],
  ])('%s', async (_, env, more) => {
    const repo = plainUser()
    await startServed(repo)
    const { code } = await offshoot({ ...repo, env: { ...repo.env, ...env } }, 'list', ...more)
    expect(code).toBe(0)
    expect(played(repo)).toBe(0)
  })

  test('a hook, which finds the variables of the terminal', async () => {
    const repo = plainUser()
    const settings = path.join(repo.home, '.config/offshoot/config.yaml')
    writeFileSync(settings, 'pool:\n  size: 0\nhooks:\n  preAccept: echo "$FROM_HERE" > ../told.txt\n')
    await workOn(repo, 'T1', 'x.txt', 'x\n')
    await startServed(repo)
    const { code, stderr } = await offshoot(
      { ...repo, env: { ...repo.env, FROM_HERE: 'here' } },
      'accept',
      'T1',
    )
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(played(repo)).toBe(0)
  })
})

describe('D13: whoever else listens', () => {
  test('in a folder that others can write gets no line and no token', async () => {
    const repo = plainUser()
    await offshoot(alone(repo), 'start', 'T1')
    const folder = tempFolder()
    chmodSync(folder, 0o777)
    let heard = ''
    const socket = path.join(folder, 'daemon.sock')
    const server = createServer((connection) => connection.on('data', (data) => (heard += String(data))))
    await new Promise<void>((resolve) => server.listen(socket, resolve))
    onTestFinished(() => void server.close())
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    const note = {
      pid: 1,
      url: 'http://127.0.0.1:1',
      socket,
      token: 'offshoot_secret',
      startedAt: '',
      version,
    }
    writeFileSync(daemonFile(repo.env.OFFSHOOT_HOME ?? ''), JSON.stringify(note), { mode: 0o600 })
    expect((await offshoot(repo, 'list')).stdout).toContain('T1')
    expect(heard).toBe('')
  })

  test('no line is played over the network, nor for another token than that of daemon.json', async () => {
    const repo = plainUser()
    const daemon = await startServed(repo)
    const { json } = await offshoot(alone(repo), 'token', 'create', '--scope', 'admin', '--json')
    const upgrade = { connection: 'Upgrade', upgrade: 'offshoot-command' }
    const by = (token: string) => ({ ...upgrade, authorization: `Bearer ${token}` })
    expect(await daemon.send('/command', { headers: by(daemon.token) })).toMatchObject({ status: 404 })
    expect(await daemon.send('/command', { headers: by(json.token), overSocket: true })).toMatchObject({
      status: 403,
    })
    expect(await daemon.send('/command', { headers: upgrade, overSocket: true })).toMatchObject({
      status: 401,
    })
  })
})

test('D13: a daemon that is gone, of another version, or does not answer is not missed', async () => {
  const repo = plainUser()
  await offshoot(alone(repo), 'start', 'T1')
  const daemon = await startServed(repo)
  const file = daemonFile(repo.env.OFFSHOOT_HOME ?? '')
  const note = JSON.parse(readFileSync(file, 'utf8')) as object
  writeFileSync(file, JSON.stringify({ ...note, version: '0.0.1' }))
  expect((await offshoot(repo, 'list')).stdout).toContain('T1')
  expect(played(repo)).toBe(0)
  writeFileSync(file, JSON.stringify(note))
  killHard(daemon.child.pid ?? 0)
  await daemon.ended()
  expect(existsSync(file)).toBe(true)
  expect((await offshoot(repo, 'list')).stdout).toContain('T1')
  renameSync(file, `${file}.away`)
  writeFileSync(file, '{"half')
  expect((await offshoot(repo, 'list')).stdout).toContain('T1')
})

describe.skipIf(noTerminal)('D13: a question of the line', () => {
  /** A task whose work runs code later, so that accept asks. */
  async function risky(): Promise<{ repo: TestRepo; daemon: TestDaemon }> {
    const repo = plainUser()
    await workOn(repo, 'T1', 'package.json', '{"scripts":{"postinstall":"true"}}\n')
    return { repo, daemon: await startServed(repo) }
  }

  test('is asked at the terminal, and its answer counts', async () => {
    const { repo } = await risky()
    const first = openPty(repo, ['accept', 'T1'], { columns: 100 })
    await first.shows('Land it? [y/N]')
    first.type('n\r')
    expect(await first.ended()).not.toBe(0)
    expect(existsSync(path.join(repo.dir, 'package.json'))).toBe(false)
    const second = openPty(repo, ['accept', 'T1'], { columns: 100 })
    await second.shows('Land it? [y/N]')
    second.type('y\r')
    await second.shows('Accepted T1')
    expect(await second.ended()).toBe(0)
    expect(existsSync(path.join(repo.dir, 'package.json'))).toBe(true)
    expect(played(repo)).toBe(2)
  })

  test('Ctrl-C cancels it, with the words and the exit code of the command', async () => {
    const { repo } = await risky()
    const ends: unknown[] = []
    for (const user of [repo, alone(repo)]) {
      const pty = openPty(user, ['accept', 'T1'], { columns: 100 })
      await pty.shows('Land it? [y/N]')
      pty.type('\u0003')
      ends.push({ code: await pty.ended(), text: pty.screen.text() })
    }
    expect(ends[0]).toEqual(ends[1])
    expect(existsSync(path.join(repo.dir, 'package.json'))).toBe(false)
  })

  test('a daemon that is killed meanwhile is told, and the next command does it', async () => {
    const { repo, daemon } = await risky()
    const pty = openPty(repo, ['accept', 'T1'], { columns: 100 })
    await pty.shows('Land it? [y/N]')
    killHard(daemon.child.pid ?? 0)
    await pty.shows('The daemon ended in the middle of this.')
    expect(await pty.ended()).toBe(1)
    expect(await offshoot(repo, 'accept', 'T1')).toMatchObject({ code: 0 })
  })
})

test('D13: a signal cancels what the daemon does, and nothing is left half done', async () => {
  const repo = plainUser()
  const { json } = await offshoot(alone(repo), 'start', 'T1', '--json')
  for (let n = 0; n < 3000; n++) writeFileSync(path.join(json.task.path, `${n}.txt`), `${n}\n`)
  const daemon = await startServed(repo)
  const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
  const child = spawn(process.execPath, [bin, 'accept', 'T1'], { cwd: repo.dir, env: repo.env })
  let told = ''
  child.stderr.on('data', (data) => (told += String(data)))
  const headers = { authorization: `Bearer ${daemon.token}` }
  const hasBegun = async () => (await daemon.send('/metrics', { headers })).text.includes('{played="true"} 1')
  while (!(await hasBegun())) await new Promise((resolve) => setTimeout(resolve, 5))
  await new Promise((resolve) => setTimeout(resolve, 20))
  child.kill('SIGINT')
  const code = await new Promise((resolve) => child.on('close', resolve))
  const landed = existsSync(path.join(repo.dir, '2999.txt'))
  expect({ code, landed, told }).toMatchObject(landed ? { code: 0 } : { code: 130 })
  expect(existsSync(path.join(repo.dir, '0.txt'))).toBe(landed)
})
