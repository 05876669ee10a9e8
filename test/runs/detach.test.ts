import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { compose } from '../../src/compose/full.ts'
import { findMarked } from '../../src/process/marked.ts'
import { call } from '../support/call.ts'
import { killHard, until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { library } from '../support/workspace.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** An agent that writes a file, and then waits for the user's word. */
async function leftToItself(repo: TestRepo) {
  const [ready, go] = [path.join(repo.home, 'ready'), path.join(repo.home, 'go')]
  const wait = `echo half > half.txt; touch '${ready}'; while ! test -e '${go}'; do sleep 0.05; done`
  const prompt = play({ say: 'I begin.', write: 'one.txt' }, { sh: wait }, { say: 'I am done.' })
  const begun = await offshoot(repo, 'run', '--task', 'T1', '--detach', '--json', prompt)
  const { pid, log } = begun.json as { pid: number; log: string }
  onTestFinished(() => killHard(pid))
  await until(() => existsSync(ready), 'the agent is at work')
  const started = readFileSync(log, 'utf8').split('\n', 1)[0] ?? ''
  const { run } = JSON.parse(started) as { run: string }
  return { pid, run, goOn: () => writeFileSync(go, '') }
}

const shown = async (repo: TestRepo) => (await offshoot(repo, 'show', 'T1', '--json')).json.task

/** Looks on at a run, from another terminal. */
function onlooker(repo: TestRepo, ...args: string[]) {
  const child = spawn(process.execPath, [bin, 'attach', 'T1', ...args], { cwd: repo.dir, env: repo.env })
  const said = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (chunk) => (said[stream] += chunk))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { child, said, ended }
}

describe('G1: a run that is left to itself', () => {
  test('G1: is there as soon as the command has ended, and every other command finds it at work', async () => {
    const repo = withStandIn(testRepo())
    const { goOn } = await leftToItself(repo)
    expect(await shown(repo)).toMatchObject({ state: 'active', running: true, checkpoints: 1 })
    expect((await offshoot(repo, 'list')).stdout).toMatch(/^T1 .* running /m)
    expect(await offshoot(repo, 'run', '--task', 'T1', play({ sh: 'true' }), '--json')).toMatchObject({
      code: 5,
      json: { error: { code: 'WT_012' } },
    })
    const { said, ended } = onlooker(repo)
    await until(() => said.stderr.includes('step 1 one.txt'), 'somebody looks on')
    goOn()
    expect(await ended).toBe(0)
    expect(said.stderr).toMatch(/I begin\.[\s\S]*I am done\./)
    expect(said.stdout).toContain('T1 completed: 2 steps')
    const task = await shown(repo)
    expect(task).toMatchObject({ state: 'completed', checkpoints: 2 })
    expect(task).not.toHaveProperty('running')
  })

  test('G1: goes on when the terminal and all that was started in it are killed', async () => {
    const repo = withStandIn(testRepo())
    const go = path.join(repo.home, 'go')
    const prompt = play({ sh: `while ! test -e '${go}'; do sleep 0.05; done; echo x > x.txt` })
    const script = `'${process.execPath}' '${bin}' run --task T1 --detach '${prompt.replaceAll("'", `'\\''`)}'; echo done; sleep 600`
    const terminal = spawn('/bin/sh', ['-c', script], { cwd: repo.dir, env: repo.env, detached: true })
    let said = ''
    terminal.stdout.on('data', (chunk) => (said += chunk))
    await until(() => said.includes('done'), 'the run is left to itself')
    process.kill(-terminal.pid!, 'SIGKILL')
    expect(await shown(repo)).toMatchObject({ running: true })
    const { said: seen, ended } = onlooker(repo)
    await until(() => seen.stderr !== '', 'somebody looks on')
    writeFileSync(go, '')
    expect(await ended).toBe(0)
    expect(await shown(repo)).toMatchObject({ state: 'completed', checkpoints: 1 })
  })

  test('G1: whoever looks on can leave, and with --json sees events', async () => {
    const repo = withStandIn(testRepo())
    const { goOn } = await leftToItself(repo)
    const first = onlooker(repo, '--json')
    await until(() => first.said.stdout.includes('"event":"checkpoint"'), 'it has seen the first step')
    first.child.kill('SIGINT')
    expect(await first.ended).toBe(130)
    const left = JSON.parse(first.said.stdout.trim().split('\n').at(-1) ?? '')
    expect(left).toMatchObject({ ok: true, task: { id: 'T1' } })
    const person = onlooker(repo)
    await until(() => person.said.stderr.includes('step 1'), 'a person looks on')
    person.child.kill('SIGINT')
    expect(await person.ended).toBe(130)
    expect(person.said.stdout).toBe('T1 goes on by itself: offshoot stop T1\n')
    expect(person.said.stderr).not.toContain('WT_021')
    expect(await shown(repo)).toMatchObject({ running: true })
    const second = onlooker(repo, '--json')
    await until(() => second.said.stdout !== '', 'somebody looks on again')
    goOn()
    expect(await second.ended).toBe(0)
    const last = second.said.stdout.trim().split('\n').at(-1) ?? ''
    expect(JSON.parse(last)).toMatchObject({ ok: true, task: { state: 'completed' } })
  })

  test('P2: killed itself, its agent ends with it; list tells, and the next command keeps the work', async () => {
    const repo = withStandIn(testRepo())
    const { pid, run } = await leftToItself(repo)
    expect(findMarked(run)).not.toEqual([])
    process.kill(pid, 'SIGKILL')
    await until(() => findMarked(run).length === 0, 'nothing of the run is left')
    const why = `run by process ${pid} did not end`
    const before = await offshoot(repo, 'list', '--json')
    expect(before.json.tasks).toMatchObject([{ id: 'T1', state: 'failed', reason: why, checkpoints: 1 }])
    expect(await offshoot(repo, 'stop', 'T1', '--json')).toMatchObject({ json: { stopped: false } })
    expect(await shown(repo)).toMatchObject({ state: 'failed', reason: why, checkpoints: 2 })
    const { json } = await offshoot(repo, 'log', 'T1', '--json')
    expect(json.checkpoints).toMatchObject([
      { tool: 'Write' },
      { tool: 'sweep', files: [{ path: 'half.txt' }] },
    ])
  })

  test('G7: its prompt is in no list of processes, and may begin with a dash', async () => {
    const repo = withStandIn(testRepo())
    const prompt = `--isolation=direct is no option here ${play({ write: 'one.txt' })}`
    const [ready, go] = [path.join(repo.home, 'ready'), path.join(repo.home, 'go')]
    const wait = play({
      sh: `touch '${ready}'; while ! test -e '${go}'; do sleep 0.05; done # in-the-prompt`,
    })
    const begun = await offshoot(repo, 'run', '--task', 'T1', '--detach', '--json', wait)
    const { pid } = begun.json as { pid: number }
    onTestFinished(() => killHard(pid))
    await until(() => existsSync(ready), 'the agent is at work')
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('in-the-prompt')
    writeFileSync(go, '')
    const piped = spawn(process.execPath, [bin, 'run', '--task', 'T2', '--detach', '--json', '-'], {
      cwd: repo.dir,
      env: repo.env,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    piped.stdin.end(prompt)
    expect(await new Promise((resolve) => piped.on('close', resolve))).toBe(0)
    const { task } = (await offshoot(repo, 'show', 'T2', '--json')).json
    expect(task).toMatchObject({ isolation: 'worktree', runs: 1 })
    for (const name of ['T1', 'T2']) await offshoot(repo, 'stop', name)
  })

  test('G7: a command is left to itself as well, and its failure is told at the end', async () => {
    const repo = testRepo()
    const go = path.join(repo.home, 'go')
    const line = `while ! test -e '${go}'; do sleep 0.05; done; echo x > x.txt; exit 3`
    const begun = await offshoot(repo, 'run', '--task', 'T1', '--detach', '--json', '--', 'sh', '-c', line)
    expect(begun.json).toMatchObject({ ok: true, task: { id: 'T1' }, pid: expect.any(Number) })
    onTestFinished(() => killHard(begun.json.pid))
    expect(await shown(repo)).toMatchObject({ running: true })
    const { said, ended } = onlooker(repo, '--json')
    await until(() => said.stdout.includes('"event":"started"'), 'somebody looks on')
    writeFileSync(go, '')
    expect(await ended).toBe(1)
    const last = JSON.parse(said.stdout.trim().split('\n').at(-1) ?? '')
    expect(last).toMatchObject({ ok: false, error: { code: 'WT_018' } })
    expect(await shown(repo)).toMatchObject({ state: 'failed', checkpoints: 1 })
  })

  test('G7: it begins no closed task anew', async () => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T1')
    await offshoot(repo, 'reject', 'T1')
    const lib = library(repo)
    const input = { repo: repo.dir, task: 'T1', create: false, prompt: 'x', agent: 'claude' }
    const ports = compose({ env: repo.env })
    onTestFinished(() => ports.close())
    await expect(call(ports, 'task.detach', input)).rejects.toMatchObject({ problem: 'noSuchTask' })
    expect(await lib.list({ all: true })).toMatchObject([{ id: 'T1', state: 'rejected' }])
  })

  test('G1: a run that cannot begin says so at once', async () => {
    const repo = withStandIn(testRepo())
    const refused = await offshoot(
      repo,
      'run',
      '--task',
      'T1',
      '--detach',
      '--agent',
      'nobody',
      '--json',
      'x',
    )
    expect(refused).toMatchObject({ code: 2, json: { ok: false, error: { code: 'WT_019' } } })
  })
})

test('G1: a run in another terminal cannot be looked at, and its task says that it runs', async () => {
  const repo = withStandIn(testRepo())
  const ready = path.join(repo.home, 'ready')
  const prompt = play({ sh: `touch '${ready}'; sleep 600` })
  const other = spawn(process.execPath, [bin, 'run', '--task', 'T1', '--json', prompt], {
    cwd: repo.dir,
    env: repo.env,
    stdio: 'ignore',
  })
  onTestFinished(() => void other.kill('SIGKILL'))
  await until(() => existsSync(ready), 'the agent is at work')
  expect(await offshoot(repo, 'attach', 'T1', '--json')).toMatchObject({
    code: 5,
    json: { error: { code: 'WT_012' } },
  })
  await offshoot(repo, 'stop', 'T1')
})
