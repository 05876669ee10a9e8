import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { schemas } from '../../src/protocol/schemas/index.ts'
import { isRunning, killHard, until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { withEnv } from '../support/workspace.ts'

/** A detached agent that waits for the user's word in its first tool call. */
async function atWork(repo: TestRepo) {
  const [ready, go] = [path.join(repo.home, 'ready'), path.join(repo.home, 'go')]
  const wait = `touch '${ready}'; while ! test -e '${go}'; do sleep 0.05; done`
  const begun = await offshoot(repo, 'run', '--task', 'T1', '--detach', '--json', play({ sh: wait }))
  const { pid, log } = begun.json as { pid: number; log: string }
  onTestFinished(() => killHard(pid))
  await until(() => existsSync(ready), 'the agent is at work')
  const ended = () => until(() => /^\{"ok":/m.test(readFileSync(log, 'utf8')), 'the run has ended')
  return { pid, ended, goOn: () => writeFileSync(go, '') }
}

const task = async (repo: TestRepo) => (await offshoot(repo, 'show', 'T1', '--json')).json.task

describe('G16: say', () => {
  test('G16: what is said during a turn begins the next one, in the same run and conversation', async () => {
    const repo = withStandIn(testRepo())
    const run = await atWork(repo)
    const said = await offshoot(repo, 'say', 'T1', play({ write: 'more.txt' }), '--json')
    expect(said).toMatchObject({ code: 0, json: { task: { unheard: 1 } } })
    expect(schemas['task.say'].output.safeParse(said.json).error).toBeUndefined()
    run.goOn()
    await run.ended()
    const now = await task(repo)
    expect(now).toMatchObject({ state: 'completed', runs: 1, checkpoints: 1 })
    expect(now).not.toHaveProperty('unheard')
    expect(existsSync(path.join(now.path, 'more.txt'))).toBe(true)
  })

  test('G5: limits.turns counts the answers of the whole run, also after a message', async () => {
    const repo = withEnv(withStandIn(testRepo()), { OFFSHOOT_LIMITS_TURNS: '3' })
    const run = await atWork(repo)
    await offshoot(
      repo,
      'say',
      'T1',
      play({ write: 'one.txt' }, { write: 'two.txt' }, { write: 'three.txt' }),
    )
    run.goOn()
    await run.ended()
    const now = await task(repo)
    expect(now).toMatchObject({ state: 'failed', lastRun: { reason: 'limits.turns: 3 answers are over' } })
    expect(existsSync(path.join(now.path, 'three.txt'))).toBe(false)
  })

  test('P2: the run is killed: what was said is told, and resume hears it before its own prompt', async () => {
    const repo = withStandIn(testRepo())
    const run = await atWork(repo)
    // Together they are one prompt of the stand-in, which reads JSON: the order of the parts matters.
    await offshoot(repo, 'say', 'T1', '[{"write":"one.txt"},')
    await offshoot(repo, 'say', 'T1', '{"write":"two.txt"},')
    process.kill(run.pid, 'SIGKILL')
    await until(() => !isRunning(run.pid), 'the run is dead')
    await offshoot(repo, 'recover')
    expect(await task(repo)).toMatchObject({ state: 'failed', unheard: 2 })
    expect((await offshoot(repo, 'show', 'T1')).stdout).toContain('2 messages of yours have not been heard')
    const resumed = await offshoot(repo, 'resume', 'T1', '{"write":"three.txt"}]', '--json')
    expect(resumed).toMatchObject({ code: 0 })
    const log = (await offshoot(repo, 'log', 'T1', '--json')).json.checkpoints as { summary: string }[]
    expect(log.map(({ summary }) => summary)).toEqual(['one.txt', 'two.txt', 'three.txt'])
    expect(await task(repo)).not.toHaveProperty('unheard')
  })

  test('G16: a new conversation hears only what was said during its own run', async () => {
    const repo = withStandIn(testRepo())
    const first = await atWork(repo)
    await offshoot(repo, 'say', 'T1', play({ write: 'old.txt' }))
    process.kill(first.pid, 'SIGKILL')
    await until(() => !isRunning(first.pid), 'the run is dead')
    await offshoot(repo, 'recover')
    rmSync(path.join(repo.home, 'ready'))
    const second = await atWork(repo)
    await offshoot(repo, 'say', 'T1', play({ write: 'new.txt' }))
    second.goOn()
    await second.ended()
    const now = await task(repo)
    expect(now).toMatchObject({ state: 'completed', unheard: 1 })
    expect(existsSync(path.join(now.path, 'new.txt'))).toBe(true)
    expect(existsSync(path.join(now.path, 'old.txt'))).toBe(false)
    await offshoot(repo, 'resume', 'T1', play({ write: 'more.txt' }).slice(1, -1))
    expect(await task(repo)).not.toHaveProperty('unheard')
  })

  test('P3: a run that finds no conversation to go on with leaves no copy of the user’s index', async () => {
    const repo = withStandIn(testRepo())
    await offshoot(repo, 'start', 'T1')
    expect((await offshoot(repo, 'resume', 'T1', 'x')).code).toBe(3)
    const left = readdirSync(repo.home, { recursive: true, encoding: 'utf8' })
    expect(left.filter((name) => /\/index-[^/]*$/.test(name))).toEqual([])
  })

  test('G16: where no agent is at work it is refused, and the hint begins a run with it', async () => {
    const repo = withStandIn(testRepo())
    await offshoot(repo, 'run', '--task', 'T1', play({ say: 'Hello.' }))
    const { code, json } = await offshoot(repo, 'say', 'T1', play({ write: 'x.txt' }), '--json')
    expect([code, json.error.code]).toEqual([3, 'WT_005'])
    expect(json.error.hint).toContain(`offshoot resume T1 '[{"write":"x.txt"}]'`)
    expect(await task(repo)).not.toHaveProperty('unheard')
  })
})
