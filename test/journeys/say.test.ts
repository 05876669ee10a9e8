import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { schemas } from '../../src/protocol/schemas/index.ts'
import { isRunning, killHard, until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'

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

  test('G16: where no agent is at work it is refused, and the hint begins a run with it', async () => {
    const repo = withStandIn(testRepo())
    await offshoot(repo, 'run', '--task', 'T1', play({ say: 'Hello.' }))
    const { code, json } = await offshoot(repo, 'say', 'T1', play({ write: 'x.txt' }), '--json')
    expect([code, json.error.code]).toEqual([3, 'WT_005'])
    expect(json.error.hint).toContain(`offshoot resume T1 '[{"write":"x.txt"}]'`)
    expect(await task(repo)).not.toHaveProperty('unheard')
  })
})
