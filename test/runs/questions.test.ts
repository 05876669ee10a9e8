import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { schemas } from '../../src/protocol/schemas/index.ts'
import { findMarked } from '../../src/process/marked.ts'
import { isRunning, killHard, until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { type Act, play, withStandIn } from '../support/stand-in.ts'
import { atTerminal, noTerminal } from '../support/terminal.ts'
import { library, withEnv } from '../support/workspace.ts'

/** A detached run whose agent asks. Answers when the question is in the log. */
async function asking(repo: TestRepo, acts: Act[], ...options: string[]) {
  const words = [
    'run',
    '--task',
    'T1',
    '--policy',
    'moderate',
    '--detach',
    '--json',
    ...options,
    play(...acts),
  ]
  const { json } = await offshoot(repo, ...words)
  const { pid, log } = json as { pid: number; log: string }
  onTestFinished(() => killHard(pid))
  const told = (event: string) =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line.includes(`"event":"${event}"`))
      .map((line) => JSON.parse(line) as Record<string, string>)
  const ended = () => until(() => /^\{"ok":/m.test(readFileSync(log, 'utf8')), 'the run has ended')
  const waiting = (count = 1) => until(() => told('waiting').length >= count, 'it asks')
  await waiting()
  return { pid, told, ended, waiting }
}

const task = async (repo: TestRepo) => (await offshoot(repo, 'show', 'T1', '--json')).json.task

const made = async (repo: TestRepo, name: string) => existsSync(path.join((await task(repo)).path, name))

const touch = (name: string): Act => ({ sh: `touch ${name}` })

describe('G15: a question of a detached run', () => {
  test('G5: waits no longer than limits.timeMinutes lets the run take', async () => {
    const repo = withEnv(withStandIn(testRepo()), { OFFSHOOT_LIMITS_TIME_MINUTES: '0.1' })
    const run = await asking(repo, [touch('x.txt')], '--ask-timeout', '1h')
    const [asked] = run.told('waiting')
    expect(Date.parse(asked!.until!) - Date.now()).toBeLessThan(6000)
    await run.ended()
    expect(await task(repo)).toMatchObject({
      state: 'failed',
      lastRun: { reason: expect.stringContaining('limits.timeMinutes: 0.1 minutes are over') },
    })
  })

  test('G15: waits, is shown by every look, and the answer lets the agent go on', async () => {
    const repo = withStandIn(testRepo())
    const run = await asking(repo, [touch('x.txt')])
    expect(await task(repo)).toMatchObject({
      running: true,
      asks: { tool: 'Bash', summary: 'touch x.txt', reason: expect.any(String) },
    })
    expect((await offshoot(repo)).stdout).toMatch(/T1 +asks: Bash touch x\.txt .* offshoot answer T1/)
    expect((await offshoot(repo, 'show', 'T1')).stdout).toMatch(/asks +Bash touch x\.txt/)
    expect((await offshoot(repo, 'list')).stdout).toMatch(/^T1 +claude +running, asks you /m)
    expect((await offshoot(repo, 'answer', 'T1')).stdout).toContain('  | touch x.txt')
    expect(await made(repo, 'x.txt')).toBe(false)
    const said = await offshoot(repo, 'answer', 'T1', 'y', '--json')
    expect(said).toMatchObject({ code: 0, json: { asked: { tool: 'Bash' }, said: 'once' } })
    expect(schemas['task.answer'].output.safeParse(said.json).error).toBeUndefined()
    await run.ended()
    expect(await made(repo, 'x.txt')).toBe(true)
    expect(await task(repo)).toMatchObject({ state: 'completed' })
    expect(await task(repo)).not.toHaveProperty('asks')
    const log = (await library(repo).audit({ task: 'T1' })).filter(({ what }) =>
      /asked|answered|decided/.test(what),
    )
    expect(log).toMatchObject([
      { what: 'run.asked' },
      { what: 'run.answered', by: expect.stringMatching(/^user, process \d+$/), detail: 'once' },
      { what: 'run.decided', by: 'user' },
    ])
  })

  test('G15: the first answer counts, only the present question is answered, and always is for that same call', async () => {
    const repo = withStandIn(testRepo())
    const run = await asking(repo, [touch('x.txt'), touch('x.txt'), touch('y.txt')])
    const first = (await task(repo)).asks.question as string
    const answers = await Promise.all(
      ['always', 'n'].map((word) => offshoot(repo, 'answer', 'T1', word, '--question', first)),
    )
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([0, 3]))
    await run.waiting(2)
    const stale = await offshoot(repo, 'answer', 'T1', 'y', '--question', first, '--json')
    expect(stale).toMatchObject({ code: 3, json: { error: { code: 'WT_005' } } })
    // If the first answer was no, the same call is asked about again; if it was always, it is not.
    const always = answers[0]?.code === 0
    expect(run.told('waiting')[1]?.summary).toBe(always ? 'touch y.txt' : 'touch x.txt')
    await offshoot(repo, 'stop', 'T1')
    await run.ended()
    expect(await made(repo, 'y.txt')).toBe(false)
  })

  test('G15: nobody answers in time: it is denied, the agent goes on, and every look tells of the denial', async () => {
    const repo = withStandIn(testRepo())
    const run = await asking(repo, [touch('x.txt'), { write: 'w.txt' }], '--ask-timeout', '1s')
    await run.ended()
    expect(await made(repo, 'x.txt')).toBe(false)
    expect(await task(repo)).toMatchObject({ state: 'completed', denied: 1, checkpoints: 1 })
    expect((await offshoot(repo)).stdout).toMatch(/T1 +ready for review +.*1 tool call was denied/)
    expect((await offshoot(repo, 'show', 'T1')).stdout).toContain(
      '1 tool call was denied: offshoot audit --task T1',
    )
    expect(await offshoot(repo, 'answer', 'T1', 'y', '--json')).toMatchObject({
      code: 3,
      json: { error: { message: 'T1 asks nothing.' } },
    })
  })

  test('G15: without --detach nobody is waited for, unless the settings say so', async () => {
    const repo = withStandIn(testRepo())
    const words = ['run', '--task', 'T1', '--policy', 'moderate', '--json', play(touch('x.txt'))]
    expect((await offshoot(repo, ...words)).stdout).not.toContain('"event":"waiting"')
    expect(await task(repo)).toMatchObject({ denied: 1 })
    const patient = withEnv(repo, { OFFSHOOT_POLICY_ASK_TIMEOUT: '1s' })
    expect((await offshoot(patient, ...words)).stdout).toContain('"event":"waiting"')
    expect((await offshoot(repo, ...words, '--ask-timeout', 'soon')).code).toBe(2)
  })

  test('P4.6: the agent cannot answer its own question', async () => {
    const repo = withStandIn(testRepo())
    const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
    const done = path.join(repo.home, 'tried')
    const sly = `${process.execPath} ${bin} answer T1 y > '${done}' 2>&1; echo $? >> '${done}'`
    const run = await asking(repo, [{ sh: sly }])
    await offshoot(repo, 'answer', 'T1', 'y')
    await run.ended()
    expect(readFileSync(done, 'utf8')).toMatch(/WT_017[\s\S]*\n5\n$/)
  })

  test('P2: the run is killed: the question is gone, and an always that was given counts for the next run', async () => {
    const repo = withStandIn(testRepo())
    const run = await asking(repo, [touch('x.txt')])
    process.kill(run.pid, 'SIGSTOP')
    expect(await offshoot(repo, 'answer', 'T1', 'always')).toMatchObject({ code: 0 })
    process.kill(run.pid, 'SIGKILL')
    await until(() => !isRunning(run.pid), 'the run is dead')
    expect(await task(repo)).not.toHaveProperty('asks')
    expect((await offshoot(repo, 'answer', 'T1', 'y')).code).toBe(3)
    const words = ['run', '--task', 'T1', '--policy', 'moderate', play(touch('x.txt'))]
    expect(await offshoot(repo, ...words)).toMatchObject({ code: 0 })
    expect(await made(repo, 'x.txt')).toBe(true)
  })

  test('G15: stop ends a run that waits', async () => {
    const repo = withStandIn(testRepo())
    const run = await asking(repo, [touch('x.txt')])
    expect(await offshoot(repo, 'stop', 'T1')).toMatchObject({ code: 0 })
    await until(() => !isRunning(run.pid), 'the run has ended')
    expect(await task(repo)).not.toHaveProperty('asks')
  })

  test('G15: what the person is shown is what the log has the hash of, or it can only be denied', async () => {
    const repo = withStandIn(testRepo())
    const run = await asking(repo, [touch('x.txt')])
    const [{ run: id }] = run.told('started') as [{ run: string }]
    const file = path.join(repo.home, 'state', 'run-folders', id, 'question.json')
    const found = existsSync(file)
      ? file
      : path.join(repo.env.OFFSHOOT_HOME ?? '', 'run-folders', id, 'question.json')
    writeFileSync(found, JSON.stringify({ tool: 'Bash', input: { command: 'ls' } }))
    expect(await offshoot(repo, 'answer', 'T1', 'y')).toMatchObject({ code: 3 })
    expect(await offshoot(repo, 'answer', 'T1', 'n')).toMatchObject({ code: 0 })
    await run.ended()
    expect(await made(repo, 'x.txt')).toBe(false)
    expect(findMarked(id)).toEqual([])
  })

  test.skipIf(noTerminal)('G15: attach asks it at its terminal', async () => {
    const repo = withStandIn(testRepo())
    const run = await asking(repo, [touch('x.txt')])
    const typed = [{ after: 'allow exactly this?', type: 'y\n' }]
    const shown = await atTerminal(repo, ['attach', 'T1'], typed)
    expect(shown).toContain('[a]lways: this same call again in this task')
    await run.ended()
    expect(await made(repo, 'x.txt')).toBe(true)
  })

  test.skipIf(noTerminal).each([
    ['answer', 'T1', 'y'],
    ['stop', 'T1'],
  ])('G15: attach keeps its question in sight, and lets it go after `%s`', async (...elsewhere) => {
    const repo = withStandIn(testRepo())
    const run = await asking(repo, [touch('x.txt')])
    let isAsked = false
    const seen = {
      after: '[N]o: ',
      get type() {
        isAsked = true
        return ''
      },
    }
    const attached = atTerminal(repo, ['attach', 'T1'], [seen], { waitMs: 40_000 })
    const began = Date.now()
    await until(() => isAsked, 'it asks')
    // The status line is written anew every second.
    await new Promise((resolve) => setTimeout(resolve, 2500))
    await offshoot(repo, ...elsewhere)
    await run.ended()
    expect(await attached).toMatch(/\[N\]o: \n/)
    expect(Date.now() - began).toBeLessThan(40_000)
  })
})
