import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { hook } from '../support/claude-hook.ts'
import { until } from '../support/processes.ts'
import { offshoot, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { library, nowhere, withEnv } from '../support/workspace.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

describe('I10: offshoot alone', () => {
  test('I10: tells what waits for the user, in the order of its urgency, and what to do about it', async () => {
    const repo = withStandIn(testRepo())
    const go = path.join(repo.home, 'go')
    await offshoot(repo, 'start', 'mine')
    await offshoot(repo, 'run', '--task', 'broken', '--', 'sh', '-c', 'exit 3')
    await offshoot(repo, 'run', '--task', 'good', play({ write: 'x.txt' }))
    const accept = `'${process.execPath}' '${bin}' accept asking`
    await offshoot(repo, 'run', '--task', 'asking', play({ write: 'y.txt' }, { sh: accept }))
    const long = spawn(
      process.execPath,
      [bin, 'run', '--task', 'long', '--', 'sh', '-c', `touch '${go}'; sleep 600`],
      {
        cwd: repo.dir,
        env: repo.env,
        stdio: 'ignore',
      },
    )
    onTestFinished(() => void long.kill('SIGKILL'))
    await until(() => existsSync(go), 'one is at work')
    const { code, stdout } = await offshoot(repo)
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(
        /^asking +the agent asks you to accept +1 file, \+1 -0 +just now +offshoot diff asking$/,
      ),
      expect.stringMatching(/^good +ready for review +1 file, \+1 -0 +just now +offshoot diff good$/),
      expect.stringMatching(
        /^broken +failed: sh ended with exit code 3 +0 files, \+0 -0 +just now +offshoot show broken$/,
      ),
      expect.stringMatching(/^long +running +0 files, \+0 -0 +just now +offshoot stop long$/),
      'and 1 other open task: offshoot list',
    ])
    const { json } = await offshoot(repo, '--json')
    const waiting = json.waiting as { why: string; task: { id: string } }[]
    expect(waiting.map(({ why, task }) => [why, task.id])).toEqual([
      ['wanted', 'asking'],
      ['review', 'good'],
      ['failed', 'broken'],
      ['running', 'long'],
    ])
    await offshoot(repo, 'stop', 'long')
  })

  test('R3: tells once what happened by itself', async () => {
    const repo = testRepo()
    const lib = library(repo, { flags: { autoRevert: { failure: 'always' } } })
    await lib.run({ task: 'T1', create: true, command: ['sh', '-c', 'exit 3'] }, { onEvent: () => {} })
    expect((await offshoot(repo)).stderr).toMatch(
      /^notice: T1 was rejected automatically .* offshoot undo \w+ brings it back\.$/m,
    )
    expect((await offshoot(repo)).stderr).not.toContain('notice:')
  })

  test('R3: neither an agent nor a completion uses up what the user is to be told, and list tells it', async () => {
    const repo = testRepo()
    const [agent, revert] = [{ OFFSHOOT_RUN: 'r1' }, { OFFSHOOT_AUTO_REVERT_FAILURE: 'always' }]
    const { path: cwd } = (await offshoot(repo, 'start', 'T0', '--json')).json.task
    await offshoot(withEnv(repo, revert), 'run', '--quiet', '--task', 'T1', '--', 'false')
    const said = await hook(repo, 'PostToolUse', { cwd, tool_name: 'Bash', tool_input: { command: 'ls' } })
    expect(said).toMatchObject({ code: 0, stderr: '' })
    for (const verb of [['list'], ['show', 'T0'], ['checkpoint', 'T0'], []])
      expect((await offshoot(withEnv(repo, agent), ...verb)).stderr).not.toContain('notice:')
    expect((await offshoot(repo, 'list', '--json', '--quiet')).json).not.toHaveProperty('notices')
    expect((await offshoot(repo, 'list')).stderr).toMatch(/^notice: T1 was rejected automatically/m)
    expect((await offshoot(repo, 'list')).stderr).not.toContain('notice:')
  })

  test('I10: with nothing to do, and outside of a repository, tells how to begin', async () => {
    const idle = await offshoot(testRepo())
    expect(idle).toMatchObject({ code: 0, stdout: expect.stringContaining('offshoot run "what to do"') })
    const lost = await offshoot(nowhere())
    expect(lost.code).toBe(0)
    expect(lost.stdout.trimEnd().split('\n')).toHaveLength(3)
    expect(lost.stdout).toMatch(/no git repository[\s\S]*offshoot run[\s\S]*offshoot --help/)
    expect(await offshoot(nowhere(), '--json')).toMatchObject({
      code: 6,
      json: { error: { code: 'WT_009' } },
    })
  })
})
