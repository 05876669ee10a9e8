import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Emit } from '../../src/api/views.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { isRunning, killHard, until } from '../support/processes.ts'
import { offshoot, testRepo } from '../support/repo.ts'
import { inFolder, library } from '../support/workspace.ts'

function collected() {
  const output = { stdout: '', stderr: '' }
  const emit: Emit = (event) => {
    if (event.event === 'output') output[event.stream as 'stdout' | 'stderr'] += String(event.text)
  }
  return { output, emit }
}

const sh = (script: string) => ({ task: 'T1', create: true, command: ['sh', '-c', script] })

describe('K1: a command as a run', () => {
  test('K1: makes one step of all it did, and the task is completed', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { emit } = collected()
    const ran = await lib.run(sh('echo one > one.txt; echo two > two.txt; rm a.txt'), { onEvent: emit })
    expect(ran).toMatchObject({ exitCode: 0, task: { state: 'completed', runs: 1, checkpoints: 1 } })
    expect(ran.checkpoint).toMatchObject({
      n: 1,
      tool: 'command',
      run: ran.run,
      files: [
        { path: 'a.txt', status: 'deleted' },
        { path: 'one.txt', status: 'added' },
        { path: 'two.txt', status: 'added' },
      ],
    })
    expect(repo.git('log', '--format=%s', 'main..offshoot/T1')).toMatch(/^AI Tool: command - sh -c echo one/)
  })

  test('K2: one that changes nothing makes no step', async () => {
    const lib = library(testRepo())
    const { emit } = collected()
    const ran = await lib.run(sh('cat a.txt'), { onEvent: emit })
    expect(ran.checkpoint).toBeUndefined()
    expect(ran.task).toMatchObject({ state: 'completed', checkpoints: 0 })
  })

  test('K1: it is told where it is', async () => {
    const lib = library(testRepo())
    const { emit, output } = collected()
    const { run, task } = await lib.run(sh('echo "$OFFSHOOT_RUN|$OFFSHOOT_TASK|$OFFSHOOT_WORKSPACE|$PWD"'), {
      onEvent: emit,
    })
    expect(output.stdout).toBe(`${run}|T1|${task.path}|${task.path}\n`)
  })

  test.each([1, 7, 127, 255])(
    'K1: the exit code %i is passed through, and the task has failed',
    async (code) => {
      const lib = library(testRepo())
      const ran = await lib.run(sh(`echo work > work.txt; exit ${code}`), { onEvent: collected().emit })
      expect(ran).toMatchObject({
        exitCode: code,
        task: { state: 'failed', reason: `sh ended with exit code ${code}` },
      })
      expect(ran.checkpoint?.files).toEqual([{ path: 'work.txt', status: 'added' }])
    },
  )

  test('K1: one that a signal ends has the code that shells give it', async () => {
    const lib = library(testRepo())
    expect(await lib.run(sh('kill -9 $$'), { onEvent: collected().emit })).toMatchObject({ exitCode: 137 })
  })

  test('K1: the command line passes exit code and output through', async () => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T1')
    const ran = await offshoot(repo, 'exec', 'T1', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3')
    expect(ran).toMatchObject({ code: 3, stdout: 'out\n' })
    expect(ran.stderr).toContain('err\n')
  })

  test('K1: a command without a task is told which one it has, how it ended, and what may come next', async () => {
    const repo = testRepo()
    const command = ['--', 'sh', '-c', 'echo w > w.txt; exit 7']
    const ran = await offshoot(repo, 'run', ...command)
    const [{ id }] = (await offshoot(repo, 'list', '--json')).json.tasks
    expect(ran).toMatchObject({ code: 7, stdout: '' })
    expect(ran.stderr).toContain(`\n${id} failed: sh ended with exit code 7\n  offshoot diff ${id} `)
    expect(await offshoot(repo, 'run', '--quiet', ...command)).toMatchObject({ code: 7, stderr: '' })
  })

  test('K1: output comes while the command runs, and all of it has come when it ends', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const go = path.join(repo.home, 'go')
    const { emit, output } = collected()
    const running = lib.run(sh(`echo first; while ! test -e '${go}'; do :; done; seq 1 200000`), {
      onEvent: emit,
    })
    await until(() => output.stdout === 'first\n', 'the first line came')
    writeFileSync(go, '')
    await running
    expect(output.stdout.length).toBe('first\n'.length + 1_288_894 + 1)
    expect(output.stdout.endsWith('\n200000\n')).toBe(true)
  })

  test('K2: what was changed by hand before is a step of its own', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    inFolder(repo, task.path).write('hand.txt', 'by hand\n')
    await lib.run(sh('echo work > work.txt'), { onEvent: collected().emit })
    const steps = (await lib.log('T1')).map(({ tool, files }) => [tool, ...files.map((file) => file.path)])
    expect(steps).toEqual([
      ['checkpoint', 'hand.txt'],
      ['command', 'work.txt'],
    ])
  })

  test('K1: a command that is not there fails the run, and nothing is left pending', async () => {
    const lib = library(testRepo())
    const failing = lib.run(
      { task: 'T1', create: true, command: ['no-such-command'] },
      { onEvent: collected().emit },
    )
    await expect(failing).rejects.toMatchObject({ code: 'WT_005' })
    expect(await lib.show('T1')).toMatchObject({
      state: 'failed',
      reason: 'There is no command no-such-command.',
    })
    expect(await lib.run(sh('true'), { onEvent: collected().emit })).toMatchObject({
      task: { state: 'completed' },
    })
  })

  test('K1: a second run waits for nobody and is refused', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const go = path.join(repo.home, 'go')
    const { emit, output } = collected()
    const running = lib.run(sh(`echo first; while ! test -e '${go}'; do :; done`), { onEvent: emit })
    await until(() => output.stdout !== '', 'it runs')
    await expect(lib.run(sh('true'), { onEvent: emit })).rejects.toMatchObject({ code: 'WT_012' })
    await expect(lib.rewind({ task: 'T1', to: 0 })).rejects.toMatchObject({ code: 'WT_012' })
    writeFileSync(go, '')
    expect(await running).toMatchObject({ exitCode: 0 })
  })

  test('K6: a rewind during a run is made when it is forced', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const go = path.join(repo.home, 'go')
    const { emit, output } = collected()
    const running = lib.run(sh(`echo x > a.txt; echo first; while ! test -e '${go}'; do :; done`), {
      onEvent: emit,
    })
    await until(() => output.stdout !== '', 'it runs')
    await lib.rewind({ task: 'T1', to: 0, force: true })
    writeFileSync(go, '')
    const { task } = await running
    expect(readFileSync(path.join(task.path, 'a.txt'), 'utf8')).toBe('one\n')
    expect(task.state).toBe('completed')
  })
})

describe('K2: a run that is cancelled', () => {
  test('K2: ends with all that it started; what it left is swept into a step', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    const pids = path.join(repo.home, 'pids')
    const cancel = new AbortController()
    const script = `echo half > half.txt; sleep 1000 & echo $! > '${pids}'; echo $$ >> '${pids}'; echo ready; wait`
    const { emit, output } = collected()
    const running = lib.run(sh(script), { signal: cancel.signal, onEvent: emit })
    const ended = expect(running).rejects.toMatchObject({ code: 'WT_021' })
    await until(() => output.stdout === 'ready\n', 'it is ready')
    const started = readFileSync(pids, 'utf8').trim().split('\n').map(Number)
    onTestFinished(() => killHard(...started))
    cancel.abort()
    await ended
    for (const pid of started) await until(() => !isRunning(pid), `${pid} has ended`)
    expect((await lib.log('T1')).at(-1)).toMatchObject({
      tool: 'sweep',
      files: [{ path: 'half.txt', status: 'added' }],
    })
    expect(await lib.show('T1')).toMatchObject({ state: 'failed', reason: 'Cancelled.' })
    expect(existsSync(path.join(task.path, 'half.txt'))).toBe(true)
  })

  test('K2: Ctrl-C ends one on the command line: no process is left, and its work is kept', async () => {
    const repo = testRepo()
    const pids = path.join(repo.home, 'pids')
    const script = `echo half > half.txt; setsid sleep 600 & echo $! > '${pids}'; echo $$ >> '${pids}'; sleep 600`
    const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
    const child = spawn(process.execPath, [bin, 'run', '--task', 'T1', '--', 'sh', '-c', script], {
      cwd: repo.dir,
      env: repo.env,
      stdio: 'ignore',
    })
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    const read = () => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : [])
    await until(() => read().length === 2, 'it is at work')
    const started = read()
    onTestFinished(() => killHard(...started))
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    expect(started.filter(isRunning)).toEqual([])
    const { json } = await offshoot(repo, 'log', 'T1', '--json')
    expect(json.checkpoints).toMatchObject([{ tool: 'sweep', files: [{ path: 'half.txt' }] }])
  })

  test.each(['reject', 'delete'])('R1: %s ends what is at work in the task first', async (verb) => {
    const repo = testRepo()
    const pids = path.join(repo.home, 'pids')
    const script = `echo half > half.txt; setsid sleep 600 & echo $! > '${pids}'; echo $$ >> '${pids}'; sleep 600`
    await offshoot(repo, 'start', 'T1')
    const running = offshoot(repo, 'exec', 'T1', '--', 'sh', '-c', script)
    const read = () => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : [])
    await until(() => read().length === 2, 'it is at work')
    const started = read()
    onTestFinished(() => killHard(...started))
    const { code, json } = await offshoot(repo, verb, 'T1', '--json')
    expect([code, json.task.state]).toEqual([0, 'rejected'])
    expect(started.filter(isRunning)).toEqual([])
    expect((await running).code).not.toBe(0)
    expect(existsSync(json.task.path)).toBe(false)
    await offshoot(repo, 'undo')
    expect(readFileSync(path.join(json.task.path, 'half.txt'), 'utf8')).toBe('half\n')
  })

  test('K2: one that does not want to end is ended all the same', async () => {
    const lib = library(testRepo())
    const cancel = new AbortController()
    const { emit, output } = collected()
    const running = lib.run(sh(`trap '' TERM; echo $$; while :; do :; done`), {
      signal: cancel.signal,
      onEvent: emit,
    })
    const ended = expect(running).rejects.toMatchObject({ code: 'WT_021' })
    await until(() => output.stdout.endsWith('\n'), 'it is ready')
    const pid = Number(output.stdout)
    onTestFinished(() => killHard(pid))
    cancel.abort()
    await ended
    expect(isRunning(pid)).toBe(false)
  })

  test('S3: cancelled before it began, nothing has happened', async () => {
    const lib = library(testRepo())
    await lib.start({ task: 'T1' })
    await expect(
      lib.run(sh('echo x > x.txt'), { signal: AbortSignal.abort(), onEvent: collected().emit }),
    ).rejects.toMatchObject({})
    expect(await lib.log('T1')).toEqual([])
    expect(await lib.show('T1')).toMatchObject({ state: 'active', runs: 0, dirty: false })
  })
})

describe('P1: exec', () => {
  test('P1.3: changes nothing of the user’s, not even when its command fails, but the branch of the task', async () => {
    const repo = testRepo()
    repo.write('a.txt', 'changed by the user\n')
    repo.write('new.txt', 'new\n')
    await offshoot(repo, 'start', 'T1')
    const before = fingerprint(repo)
    const tip = repo.git('rev-parse', 'offshoot/T1')
    await offshoot(repo, 'exec', 'T1', '--', 'sh', '-c', 'echo 1 > a.txt; git add --all; exit 3')
    await offshoot(repo, 'exec', 'T1', '--', 'sh', '-c', 'echo 2 > b.txt')
    expect(fingerprint(repo)).toEqual(before)
    expect(repo.git('rev-parse', 'offshoot/T1')).not.toBe(tip)
    expect(repo.git('show', 'offshoot/T1:a.txt')).toBe('1\n')
  })
})

describe('I1: --json', () => {
  const parsed = (stdout: string) =>
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)

  test.each([['run', '--task'], ['exec']])(
    'I1: %s prints events, one per line, and the answer last',
    async (...verb) => {
      const repo = testRepo()
      await offshoot(repo, 'start', 'T1')
      const script = 'echo out; echo err >&2; echo x > x.txt; exit 3'
      const { code, stdout, stderr } = await offshoot(repo, ...verb, 'T1', '--json', '--', 'sh', '-c', script)
      expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
      const lines = parsed(stdout)
      const events = lines.slice(0, -1)
      expect(events[0]).toMatchObject({
        event: 'started',
        agent: 'command',
        task: { id: 'T1', running: true },
      })
      const output = events.slice(1).map(({ event, stream, text }) => [event, stream, text])
      expect(new Set(output.map(String))).toEqual(new Set(['output,stdout,out\n', 'output,stderr,err\n']))
      expect(lines.at(-1)).toMatchObject({
        ok: true,
        exitCode: 3,
        task: { id: 'T1', state: 'failed' },
        checkpoint: { n: 1, files: [{ path: 'x.txt', status: 'added' }] },
      })
      expect(events.some((event) => 'ok' in event)).toBe(false)
    },
  )

  test('I1: what fails is the last line, too', async () => {
    const { code, stdout } = await offshoot(testRepo(), 'exec', 'nope', '--json', '--', 'true')
    expect(code).toBe(3)
    expect(parsed(stdout)).toMatchObject([{ ok: false, error: { code: 'WT_007' } }])
  })
})
