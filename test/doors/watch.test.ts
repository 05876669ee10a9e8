/** W: the live screen of all tasks, driven by keys in a real terminal, and the stream of events. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { FollowedEvent } from '../../src/index.ts'
import { recordGit } from '../support/git-record.ts'
import { isRunning, killHard, until } from '../support/processes.ts'
import { openPty, type Pty, type PtyOptions } from '../support/pty.ts'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { type Act, play, withStandIn } from '../support/stand-in.ts'
import { noTerminal } from '../support/terminal.ts'
import { library, withEnv } from '../support/workspace.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

const title =
  '直す the login form, and every other form of the site that asks for a password 🚀 before Friday'

function watch(repo: TestRepo, options: PtyOptions, ...args: string[]): Pty {
  const pty = openPty(repo, ['watch', ...args], options)
  onTestFinished(pty.close)
  return pty
}

/** Answers a question of the screen. */
async function answer(pty: Pty, question: string, key: string): Promise<void> {
  await pty.shows(`${question} [y/N]`)
  pty.type(key)
}

/** Leaves by a key, and looks at the terminal then. */
async function leave(pty: Pty, key = 'q'): Promise<void> {
  pty.type(key)
  expect(await pty.ended()).toBe(0)
  expectRestored(pty)
}

function expectRestored({ screen, modes, received }: Pty): void {
  const { before, after } = modes()
  expect(after).toBe(before)
  expect([screen.isAlternate, screen.isCursorShown]).toEqual([false, true])
  // Lines wrap again.
  expect(received.lastIndexOf('\u001B[?7h')).toBeGreaterThan(received.lastIndexOf('\u001B[?7l'))
}

/** A detached run of the stand-in; it is killed with the test. */
async function detached(repo: TestRepo, task: string, acts: Act[], ...options: string[]): Promise<number> {
  const words = ['run', '--task', task, '--detach', '--json', ...options, play(...acts)]
  const { pid } = (await offshoot(repo, ...words)).json as { pid: number }
  onTestFinished(() => killHard(pid))
  return pid
}

const taskOf = async (repo: TestRepo, id: string) => (await offshoot(repo, 'show', id, '--json')).json.task

describe.skipIf(noTerminal)('W: a day at the screen', () => {
  test.each([60, 200])(
    'W1: at %i columns tasks of other processes appear, and keys show, accept, undo and answer',
    async (columns) => {
      const repo = withStandIn(testRepo())
      const pty = watch(repo, { columns })
      await pty.shows('no open tasks')
      await offshoot(repo, 'start', 'T1', '--title', title)
      await pty.shows(/^> - T1 /m)
      if (columns === 200) await pty.shows(title)
      await offshoot(repo, 'run', '--task', 'T2', '--', 'sh', '-c', 'echo x > x.txt')
      await pty.shows(/Ready to review\n {2}\+ T2 .*completed[^]*Others\n> - T1 /)
      await detached(repo, 'T3', [{ sh: 'touch made.txt' }], '--policy', 'moderate')
      await pty.shows(/1 needs you, 1 to review, 1 other\n.*\nNeeds you\n {2}\? T3 .*asks you/)

      // To T2, and back from the pager.
      pty.type('k')
      await pty.shows(/^> \+ T2 /m)
      pty.type('d')
      await pty.shows('+++ b/x.txt')
      pty.type('q')
      await pty.shows(/^> \+ T2 /m)

      // Looking and saying no land nothing; yes does.
      const landed = path.join(repo.dir, 'x.txt')
      for (const key of ['n', 'y']) {
        pty.type('a')
        await pty.shows('T2 would land cleanly')
        expect(pty.screen.text()).toContain('+ x.txt')
        expect(existsSync(landed)).toBe(false)
        await answer(pty, 'Accept T2?', key)
        await pty.hides('would land')
      }
      await pty.shows('Accepted T2 as patch: 1 file')
      expect(readFileSync(landed, 'utf8')).toBe('x\n')
      await pty.shows(/1 needs you, 1 other$/m)
      pty.type('u')
      await pty.shows('accept of T2')
      expect(existsSync(landed)).toBe(true)
      await answer(pty, 'Undo it?', 'y')
      await pty.shows('Undid accept of T2')
      expect(existsSync(landed)).toBe(false)
      await pty.shows(/^[> ] \+ T2 /m)

      // The whole question first, then the answer.
      pty.type('\u001B[H')
      await pty.shows(/^> \? T3 /m)
      pty.type('y')
      await pty.shows('| touch made.txt')
      await pty.shows('allow exactly this?')
      expect((await taskOf(repo, 'T3')).asks).toBeDefined()
      pty.type('y\r')
      await pty.shows('Allowed once: Bash touch made.txt')
      await pty.shows(/\+ T3 .*completed/)
      expect(existsSync(path.join((await taskOf(repo, 'T3')).path, 'made.txt'))).toBe(true)

      expect(pty.screen.overflows).toBe(0)
      await leave(pty)
      expect(pty.screen.text()).not.toContain('T1')
    },
  )

  test('W2: reject and stop ask; a run goes on when the screen is left, and is attached to from it', async () => {
    const repo = withStandIn(testRepo())
    const waits: Act[] = [{ say: 'I begin.' }, { write: 'w.txt' }, { sh: 'tail -f /dev/null' }]
    const pid = await detached(repo, 'T1', waits, '--policy', 'permissive')
    await offshoot(repo, 'start', 'T2')
    const pty = watch(repo, { columns: 100 })
    await pty.shows(/\* T1 .*running +Bash tail -f \/dev\/null/)
    pty.type('t')
    await pty.shows('I begin.')
    // Ctrl-C ends the look at the run, and neither the run nor the screen.
    pty.type('\u0003')
    await pty.shows(/^> \* T1 /m)
    pty.type('s')
    await answer(pty, 'Stop it?', 'n')
    await pty.hides('Stop it?')
    expect(isRunning(pid)).toBe(true)
    await leave(pty, '\u0003')
    expect(isRunning(pid)).toBe(true)

    const again = watch(repo, { columns: 100 })
    await again.shows(/^> \* T1 /m)
    again.type('s')
    await answer(again, 'Stop it?', 'y')
    await again.shows(/Stopped T1; its work is kept in \d step/)
    await until(() => !isRunning(pid), 'the run has ended')
    again.type('\u001B[F')
    await again.shows(/^> - T2 /m)
    again.type('r')
    await answer(again, 'Reject it?', 'y')
    await again.shows('Rejected T2')
    await again.hides(/- T2 /)
    again.type('u')
    await answer(again, 'Undo it?', 'y')
    await again.shows(/- T2 /)
    await leave(again)
    expect(await taskOf(repo, 'T2')).toMatchObject({ state: 'active' })
  })

  test('W2: what lands is what was shown: work that came since is shown and asked about anew', async () => {
    const repo = testRepo()
    await offshoot(repo, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo x > x.txt')
    const pty = watch(repo, { columns: 80 })
    await pty.shows(/^> \+ T1 /m)
    pty.type('a')
    await pty.shows('Accept T1? [y/N]')
    await offshoot(repo, 'exec', 'T1', '--', 'sh', '-c', 'echo y > y.txt')
    pty.type('y')
    await pty.shows('It has changed since you looked')
    await pty.shows('+ y.txt')
    expect(existsSync(path.join(repo.dir, 'x.txt'))).toBe(false)
    await answer(pty, 'Accept T1?', 'y')
    await pty.shows('Accepted T1 as patch: 2 files')
    await leave(pty)
  })

  test('W2: Ctrl-C cancels what is being done, and the screen stays', async () => {
    const repo = testRepo()
    const begun = path.join(repo.home, 'begun')
    const hooked = { OFFSHOOT_HOOKS_PRE_ACCEPT: `touch '${begun}'; exec tail -f /dev/null` }
    await offshoot(repo, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo x > x.txt')
    const pty = watch(repo, { columns: 80, env: hooked })
    await pty.shows(/^> \+ T1 /m)
    pty.type('a')
    await answer(pty, 'Accept T1?', 'y')
    await pty.shows('accept T1 …')
    await until(() => existsSync(begun), 'the hook is at work')
    // Other keys do nothing meanwhile.
    pty.type('rjd\u0003')
    await pty.shows('error WT_021')
    await pty.shows(/^> \+ T1 /m)
    expect(existsSync(path.join(repo.dir, 'x.txt'))).toBe(false)
    await leave(pty)
  })

  test('W2: what would not land is shown and not asked about, and an error is told with its hint', async () => {
    const repo = testRepo({ f: 'one\n' })
    await offshoot(repo, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo two > f')
    repo.write('f', 'mine\n')
    const pty = watch(repo, { columns: 80 })
    await pty.shows(/^> \+ T1 /m)
    pty.type('a')
    await pty.shows('T1 would not land')
    await pty.shows('any key goes back')
    expect(pty.screen.text()).not.toContain('[y/N]')
    pty.type('x')
    await pty.shows(/^> \+ T1 /m)
    // No editor is known here.
    pty.type('o')
    await pty.shows(/error WT_\d+: No editor was found/)
    await pty.shows('hint: Set the variable VISUAL')
    await leave(pty)
  })

  test('W1: without a pager the changes are printed, and a key goes back', async () => {
    const repo = testRepo()
    await offshoot(repo, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo x > x.txt')
    const pty = watch(repo, { columns: 80, env: { PAGER: 'cat' } })
    await pty.shows(/^> \+ T1 /m)
    pty.type('\r')
    await pty.shows(/^\+x\n+Press a key to go back\./m)
    expect(pty.screen.isAlternate).toBe(false)
    pty.type('x')
    await pty.shows(/^> \+ T1 /m)
    // A task without changes says so, and the screen stays.
    await offshoot(repo, 'start', 'T2')
    pty.type('\u001B[F')
    await pty.shows(/^> - T2 /m)
    pty.type('d')
    await pty.shows('No difference.')
    await leave(pty)
  })

  test('W1: o opens the workspace in the editor, and the screen comes back', async () => {
    const repo = testRepo()
    const there = path.join(repo.home, 'there')
    const { path: folder } = (await offshoot(repo, 'start', 'T1', '--json')).json.task
    const pty = watch(repo, { columns: 200, env: { VISUAL: `printf %s > '${there}'` } })
    await pty.shows(/^> - T1 /m)
    pty.type('o')
    await pty.shows(`Opened ${folder}`)
    expect(readFileSync(there, 'utf8').trim()).toBe(folder)
    await leave(pty)
  })
})

describe.skipIf(noTerminal)('W1: what the screen shows', () => {
  test('W1: a change of another process is shown within 200 ms, and no git is started for it', async () => {
    const repo = testRepo()
    const record = recordGit(path.join(repo.home, 'recorded'))
    const lib = library(repo)
    await lib.start({ task: 'T0' })
    const pty = watch(repo, { columns: 100, env: { PATH: `${record.bin}:${repo.env.PATH}` } })
    await pty.shows('T0')
    const took: number[] = []
    for (let n = 1; n <= 8; n++) {
      await lib.start({ task: `T${n}` })
      const began = performance.now()
      await pty.shows(`T${n} `)
      took.push(performance.now() - began)
    }
    // On a machine that is busy with other things some may take longer; a screen that looks less often makes all of them late.
    expect(took.toSorted((one, other) => one - other)[3]).toBeLessThan(200)
    expect(record.take()).toEqual([])
    await leave(pty)
  })

  test('W1: more tasks than rows scroll, the cursor stays visible, and a new size is drawn anew', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_LIMITS_PER_REPO: '50' })
    const lib = library(repo)
    for (let n = 10; n < 40; n++) await lib.start({ task: `task-${n}`, title: `${title} ${n}` })
    const pty = watch(repo, { columns: 200, rows: 12 })
    await pty.shows(/^> - task-39 /m)
    expect(pty.screen.rows().filter((row) => row.includes('task-')).length).toBeLessThan(12)
    expect(pty.screen.overflows).toBe(0)
    for (const [keys, id] of [
      ['jjj', 36],
      ['\u001B[6~', 26],
      ['\u001B[F', 10],
      ['\u001B[A', 11],
    ] as const) {
      pty.type(keys)
      await pty.shows(new RegExp(`^> - task-${id} `, 'm'))
    }
    for (const [columns, rows] of [
      [60, 8],
      [200, 30],
      [80, 5],
    ] as const) {
      pty.resize(columns, rows)
      await pty.shows(/^> - task-11 /m)
      await pty.shows(/q leave$/)
      expect(pty.screen.rows()).toHaveLength(rows)
      // A drawing of the old size may have been on its way.
      await until(() => pty.screen.recentOverflows === 0, 'what is drawn fits the new size')
    }
    await leave(pty)
  })

  test('W1: names of agents and repositories cannot move the cursor, and NO_COLOR keeps colours away', async () => {
    const repo = withEnv(testRepo(), { NO_COLOR: '1' })
    const evil = '\u001B[2J\u001B[?1049l\u001B]0;x\u0007\r\n\u202Eevil'
    await offshoot(repo, 'start', 'T1', '--title', evil)
    const pty = watch(repo, { columns: 200 })
    await pty.shows('\\u{1b}[2J\\u{1b}[?1049l')
    expect(pty.screen.isAlternate).toBe(true)
    // oxlint-disable-next-line no-control-regex -- colours are looked for
    expect(pty.received).not.toMatch(/\u001B\[[\d;]*m/)
    await leave(pty)
    const colored = watch({ ...repo, env: { ...repo.env, NO_COLOR: '' } }, { columns: 200 })
    await colored.shows(/^> - T1/m)
    // oxlint-disable-next-line no-control-regex -- as above
    expect(colored.received).toMatch(/\u001B\[7m/)
    await leave(colored)
  })

  test('W1: --all-repos shows and changes the tasks of every repository, wherever it is called', async () => {
    const repo = testRepo()
    const other = { ...testRepo(), env: repo.env }
    await offshoot(repo, 'start', 'T1')
    await offshoot(other, 'start', 'T1')
    const pty = watch({ ...repo, dir: repo.home }, { columns: 120 }, '--all-repos')
    await pty.shows('all repositories: 2 others')
    const name = path.basename(other.dir)
    await offshoot(other, 'start', 'T2')
    await pty.shows(`${name}/T2`)
    // The newest of the repository that was known last comes last, or first: the cursor finds T2.
    pty.type('\u001B[H')
    while (!new RegExp(`^> - ${name}/T2`, 'm').test(pty.screen.text())) {
      const before = pty.screen.text()
      pty.type('j')
      await until(() => pty.screen.text() !== before, 'the cursor has moved')
    }
    pty.type('r')
    await answer(pty, 'Reject it?', 'y')
    await pty.shows('Rejected T2')
    expect(await taskOf(other, 'T2')).toMatchObject({ state: 'rejected' })
    await leave(pty)
  })
})

describe.skipIf(noTerminal)('W2: the terminal is as it was', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('W2: after %s', async (signal) => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T1')
    const pty = watch(repo, { columns: 80 })
    await pty.shows('T1')
    process.kill(pty.pid, signal)
    expect(await pty.ended()).toBe(0)
    expectRestored(pty)
  })

  test('W2: a terminal that is closed ends it, and nothing is left at work', async () => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T1')
    const pty = watch(repo, { columns: 80 })
    await pty.shows('T1')
    const { pid } = pty
    pty.hangUp()
    await until(() => !isRunning(pid), 'the command has ended')
  })

  test('W2: after an error, which is told where it can be read', async () => {
    const repo = testRepo()
    const lib = library(repo)
    await lib.start({ task: 'T1' })
    const pty = watch(repo, { columns: 80 })
    await pty.shows('T1')
    const records = new DatabaseSync(path.join(repo.env.OFFSHOOT_HOME ?? '', 'state.db'))
    records.exec(`UPDATE tasks SET summary = '{}'`)
    records.close()
    await lib.start({ task: 'T2' })
    expect(await pty.ended()).toBe(1)
    expectRestored(pty)
    expect(pty.screen.text()).toMatch(/error WT_\d+[^]*hint:/)
  })

  test('W2: where there is no terminal it says what to call instead', async () => {
    const repo = testRepo()
    const refused = await offshoot(repo, 'watch')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(/`watch`: a terminal is needed\.\n.*offshoot watch --json.*offshoot list/)
    const dumb = watch(repo, { columns: 80, env: { TERM: 'dumb' } })
    expect(await dumb.ended()).toBe(2)
    for (const words of [
      ['--since', '3'],
      ['--json', '--since', 'soon'],
      ['--json', '--since', '-1'],
    ])
      expect((await offshoot(repo, 'watch', ...words)).code).toBe(2)
    const nowhere = { ...repo, dir: repo.home }
    expect((await offshoot(nowhere, 'watch', '--json')).json).toMatchObject({ error: { code: 'WT_009' } })
  })
})

interface Streamed {
  readonly lines: Record<string, unknown>[]
  /** What it prints on stderr. */
  readonly errors: () => string
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
}

/** `watch --json`, and the lines that it has printed so far. */
function stream(repo: TestRepo, ...args: string[]): Streamed {
  const child = spawn(process.execPath, [bin, 'watch', '--json', ...args], {
    cwd: repo.dir,
    env: repo.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: Record<string, unknown>[] = []
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { lines, errors: () => errors, child, ended }
}

/** The log of the repository, as the library tells it. */
async function logOf(repo: TestRepo): Promise<FollowedEvent[]> {
  const lib = library(repo)
  const last = (await lib.audit()).at(-1)?.seq
  const found: FollowedEvent[] = []
  for await (const followed of lib.events({ since: 0 })) {
    found.push(followed)
    if (followed.seq === last) break
  }
  return found
}

describe('W3: watch --json', () => {
  test('W3: every event of two writers once, in order, as the library tells it; then the end', async () => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T0')
    const whole = stream(repo, '--since', '0')
    const fromNow = stream(repo)
    await until(() => whole.lines.length > 0, 'it catches up')
    // A repository of somebody else, in the same log.
    const other = { ...testRepo(), env: repo.env }
    const writer = async (task: string) => {
      for (let n = 1; n <= 3; n++)
        await offshoot(repo, 'run', '--task', task, '--', 'sh', '-c', `echo ${n} > ${task}-${n}.txt`)
      await offshoot(repo, 'reject', task)
    }
    await Promise.all([writer('A'), writer('B'), offshoot(other, 'start', 'X')])
    const log = await logOf(repo)
    expect(log.length).toBeGreaterThan(30)
    const last = log.at(-1)?.seq
    await until(() => whole.lines.at(-1)?.seq === last, 'it has told everything')
    expect(whole.lines).toEqual(JSON.parse(JSON.stringify(log)))
    expect(whole.lines.every(({ task }) => task !== 'X')).toBe(true)
    const middle = log[20]?.seq
    const rest = stream(repo, '--since', String(middle))
    await until(() => rest.lines.at(-1)?.seq === last, 'the rest is told')
    expect(rest.lines).toEqual(whole.lines.slice(21))
    await until(() => fromNow.lines.at(-1)?.seq === last, 'the others have told everything, too')
    expect(fromNow.lines).toEqual(whole.lines.slice(-fromNow.lines.length))
    expect(fromNow.lines.length).toBeLessThan(whole.lines.length)
    for (const [streamed, signal] of [
      [whole, 'SIGINT'],
      [rest, 'SIGTERM'],
    ] as const) {
      streamed.child.kill(signal)
      expect(await streamed.ended).toBe(0)
      expect(streamed.lines.at(-1)).toEqual({ ok: true, seq: last })
      expect(streamed.errors()).toBe('')
    }
  })

  test('W3: list says where the log stands, and a stream from there misses nothing', async () => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T1')
    const { seq } = (await offshoot(repo, 'list', '--json')).json
    await offshoot(repo, 'start', 'T2')
    const { lines, child, ended } = stream(repo, '--since', String(seq))
    await until(
      () => lines.some(({ event }) => (event as { type: string }).type === 'start.done'),
      'T2 is told',
    )
    expect(new Set(lines.map(({ task }) => task))).toEqual(new Set(['T2']))
    expect(lines[0]).toMatchObject({ seq: seq + 1, event: { type: 'start.begun' } })
    child.kill('SIGINT')
    await ended
  })

  test('W3: --all-repos has the events of every repository', async () => {
    const repo = testRepo()
    const other = { ...testRepo(), env: repo.env }
    const { lines } = stream({ ...repo, dir: repo.home }, '--all-repos', '--since', '0')
    await Promise.all([offshoot(repo, 'start', 'T1'), offshoot(other, 'start', 'X')])
    await until(() => new Set(lines.map(({ task }) => task)).size === 2, 'both are told')
  })

  test('W3: a closed pipe ends it quietly', async () => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T1')
    const { lines, child, errors, ended } = stream(repo, '--since', '0')
    await until(() => lines.length > 0, 'it has begun')
    child.stdout?.destroy()
    await offshoot(repo, 'start', 'T2')
    expect(await ended).toBe(0)
    expect(errors()).toBe('')
  })
})
