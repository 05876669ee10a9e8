/** S3, I9: long verbs tell how far they are, can be cancelled until they write, and say what a cancel has left. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ComposeOptions } from '../../src/compose/full.ts'
import type { OpenRepo, Told } from '../../src/index.ts'
import { atEffect } from '../support/at-effect.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { changedByTask } from '../support/many-files.ts'
import { openAround } from '../support/open-around.ts'
import { until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { atTerminal, noTerminal } from '../support/terminal.ts'
import { inFolder, library, withEnv } from '../support/workspace.ts'

type Around = NonNullable<ComposeOptions['around']>

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** A clock by which two seconds pass between any two looks at it. */
function hastyClock() {
  let at = Date.now()
  return { now: () => new Date((at += 2000)) }
}

/** Calls `act` when the Nth file is staged, or placed in the checkout. */
function atFile(
  n: number,
  kind: 'staged' | 'placed',
  act: () => void,
): { around: Around; count: () => number } {
  let count = 0
  const tick = () => void (++count === n && act())
  return {
    around: {
      vault: (vault) => ({
        ...vault,
        exportFile(...call) {
          if (kind === 'staged') tick()
          return vault.exportFile(...call)
        },
      }),
      checkouts: (checkouts) => ({
        ...checkouts,
        place(...call) {
          if (kind === 'placed') tick()
          return checkouts.place(...call)
        },
      }),
    },
    count: () => count,
  }
}

function collected() {
  const events: Told[] = []
  const phases = () => [...new Set(events.flatMap((told) => (told.event === 'progress' ? [told.phase] : [])))]
  return { events, phases, onEvent: (told: Told) => void events.push(told) }
}

const files = 2000

describe('S3: an accept of many files', () => {
  test('S3: that is cancelled while it stages changes nothing, stages no further files, and has told how far it was', async () => {
    const repo = await changedByTask(files)
    const before = fingerprint(repo)
    const cancel = new AbortController()
    const { around, count } = atFile(files / 2, 'staged', () => cancel.abort())
    const { events, phases, onEvent } = collected()
    const opened = library(repo, { around, clock: hastyClock() })
    await expect(opened.accept({ task: 'T1' }, { signal: cancel.signal, onEvent })).rejects.toMatchObject({
      code: 'WT_021',
    })
    expect(count()).toBeLessThan(files / 2 + 10)
    expect(phases()).toEqual(['reading', 'checking', 'staging'])
    expect(events.find((told) => told.event === 'progress' && told.phase === 'staging')).toEqual({
      event: 'progress',
      phase: 'staging',
      percent: 0,
      files: 1,
      total: files,
    })
    expect(fingerprint(repo)).toEqual(before)
    expect(await library(repo).show('T1')).toMatchObject({ state: 'active' })
    expect((await library(repo).accept({ task: 'T1' })).accepted?.files).toHaveLength(files)
  })

  test('S3: that is cancelled while it writes goes on to its end, and says so once', async () => {
    const repo = await changedByTask(files)
    const cancel = new AbortController()
    const { around } = atFile(2, 'placed', () => cancel.abort())
    const { events, phases, onEvent } = collected()
    const { accepted, task, operation } = await library(repo, { around, clock: hastyClock() }).accept(
      { task: 'T1' },
      { signal: cancel.signal, onEvent },
    )
    expect([accepted?.files.length, task.state]).toEqual([files, 'accepted'])
    expect(events.filter(({ event }) => event === 'finishing')).toEqual([
      { event: 'finishing', verb: 'accept' },
    ])
    expect(phases().at(-1)).toBe('writing')
    expect(repo.git('status', '--porcelain').split('\n')).toHaveLength(files + 1)
    const undone = collected()
    const again = new AbortController()
    const back = atFile(2, 'placed', () => again.abort())
    const opened = library(repo, { around: back.around, clock: hastyClock() })
    expect(
      (await opened.undo(operation, { signal: again.signal, onEvent: undone.onEvent })).files,
    ).toHaveLength(files)
    expect(undone.events.filter(({ event }) => event === 'finishing')).toEqual([
      { event: 'finishing', verb: 'undo' },
    ])
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('S3: a quick verb tells nothing, and one that nobody cancels no end', async () => {
    const repo = await changedByTask(10)
    const { events, onEvent } = collected()
    const stopped = { now: () => new Date('2026-01-01') }
    await library(repo, { clock: stopped }).accept(
      { task: 'T1' },
      { signal: new AbortController().signal, onEvent },
    )
    expect(events).toEqual([])
  })
})

/** Has the verb cancelled at every effect; answers how each went, until it was too late eight times in a row. */
async function cancelledAtEach(
  repo: TestRepo,
  verb: (opened: OpenRepo, signal: AbortSignal) => Promise<unknown>,
  takeBack: () => Promise<unknown>,
  look: () => unknown,
) {
  const [outcomes, before] = [[] as string[], look()]
  while (outcomes.slice(-8).filter((code) => code === 'done').length < 8) {
    const cancel = new AbortController()
    const { around } = atEffect(outcomes.length + 1, () => cancel.abort())
    const opened = openAround(repo.dir, { env: repo.env, around })
    const code: string = await verb(opened, cancel.signal).then(
      () => 'done',
      (error) => error.code,
    )
    await opened.close()
    outcomes.push(code)
    const isSame = JSON.stringify(look()) === JSON.stringify(before)
    expect([outcomes.length, code, isSame]).toEqual([outcomes.length, isSame ? 'WT_021' : 'done', isSame])
    if (code === 'done') await takeBack()
  }
  return outcomes
}

test.each(['patch', 'squash'] as const)(
  'S3: an accept as %s that is cancelled at any of its effects is done or not begun',
  async (as) => {
    const repo = testRepo({ 'a.txt': 'one\n', 'b.txt': 'b\n' })
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    inFolder(repo, task.path).write('a.txt', 'two\n')
    inFolder(repo, task.path).write('new.txt', 'new\n')
    const outcomes = await cancelledAtEach(
      repo,
      (opened, signal) => opened.accept({ task: 'T1', as }, { signal }),
      () => lib.undo(),
      () => fingerprint(repo),
    )
    expect(outcomes.filter((code) => code === 'WT_021').length).toBeGreaterThan(8)
    expect(await lib.show('T1')).toMatchObject({ id: 'T1', state: 'active' })
  },
)

test('S3: the undo of an accept that is cancelled at any of its effects is done or not begun', async () => {
  const repo = testRepo({ 'a.txt': 'one\n' })
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  inFolder(repo, task.path).write('a.txt', 'two\n')
  let { operation = '' } = await lib.accept({ task: 'T1' })
  const outcomes = await cancelledAtEach(
    repo,
    (opened, signal) => opened.undo(operation, { signal }),
    async () => ({ operation = '' } = await lib.accept({ task: 'T1' })),
    () => fingerprint(repo),
  )
  expect(outcomes.filter((code) => code === 'WT_021').length).toBeGreaterThan(8)
})

/** The task, at work in the command that is given; `ready` is there once half of it is done. */
async function halfDone(repo: TestRepo, args: (ready: string) => string[]) {
  const ready = path.join(repo.home, 'ready')
  const child = spawn(process.execPath, [bin, ...args(ready)], { cwd: repo.dir, env: repo.env })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  await until(() => existsSync(ready), 'half of it is done')
  child.kill('SIGINT')
  return { code: await ended, stderr }
}

const forEver = (ready: string) => `echo half > half.txt; touch '${ready}'; exec tail -f /dev/null`

describe('S3: a cancelled run says what it has left', () => {
  test('S3: exec names the step that holds what the command did', async () => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T1')
    const { code, stderr } = await halfDone(repo, (ready) => ['exec', 'T1', '--', 'sh', '-c', forEver(ready)])
    expect([code, stderr]).toEqual([
      130,
      'error WT_021: Cancelled; what it did is step 1.\n  hint: offshoot show T1\n',
    ])
    const { checkpoints } = (await offshoot(repo, 'log', 'T1', '--json')).json
    expect(checkpoints).toMatchObject([{ n: 1, files: [{ path: 'half.txt' }] }])
  })

  test('S3: run names the steps, and the command that goes on with the conversation', async () => {
    const repo = withStandIn(testRepo())
    const { code, stderr } = await halfDone(repo, (ready) => [
      'run',
      '--task',
      'T1',
      play({ write: 'one.txt' }, { sh: forEver(ready) }),
    ])
    expect(code).toBe(130)
    expect(stderr).toContain(
      'error WT_021: Cancelled; what it did is steps 1 to 2.\n  hint: offshoot resume T1\n',
    )
    expect(await offshoot(repo, 'resume', 'T1', play({ write: 'two.txt' }))).toMatchObject({ code: 0 })
  })

  test('S3: a command that had changed nothing leaves no step, and says so', async () => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T1')
    const { stderr } = await halfDone(repo, (ready) => [
      'exec',
      'T1',
      '--',
      'sh',
      '-c',
      `touch '${ready}'; exec tail -f /dev/null`,
    ])
    expect(stderr).toContain('error WT_021: Cancelled; it had changed nothing.\n')
  })
})

describe.skipIf(noTerminal)('I9: at a terminal', () => {
  /** The same user, with a hook that runs before each accept. */
  const hooked = (repo: TestRepo, hook: string) => withEnv(repo, { OFFSHOOT_HOOKS_PRE_ACCEPT: hook })

  test('I9: a verb that takes longer than a second shows how far it is, in a line that is gone at its end', async () => {
    const repo = hooked(await changedByTask(files), 'sleep 1')
    const shown = await atTerminal(repo, ['accept', 'T1'], [])
    expect(shown).toMatch(/Staging files: \d+ % \(\d+ of 2000 files\)/)
    expect(shown).toMatch(/Writing files: \d+ % \(\d+ of 2000 files\)/)
    expect(shown).toContain(`Accepted T1 as patch: ${files} files`)
    await offshoot(repo, 'undo')
    const quiet = await atTerminal(repo, ['accept', 'T1', '--only', 'd0', '--quiet'], [])
    expect(quiet).not.toContain('%')
  })

  test('S3: Ctrl-C cancels an accept, and nothing has changed', async () => {
    const repo = hooked(await changedByTask(10), 'echo waiting; exec tail -f /dev/null')
    const before = fingerprint(repo)
    const typed = [{ after: 'waiting', type: '\u0003' }]
    expect(await atTerminal(repo, ['accept', 'T1'], typed)).toContain('error WT_021: Cancelled.')
    expect(fingerprint(repo)).toEqual(before)
  })
})
