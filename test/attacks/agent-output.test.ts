/** An agent that prints what nobody can read. */
import { existsSync, statSync, truncateSync, appendFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'

const malformed = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { event?: string; reason?: string })
    .flatMap(({ event, reason }) => (event === 'malformed' ? [reason] : []))

const wrong = {
  claude: [
    { type: 'assistant', message: { content: [null] } },
    { type: 'assistant', message: { content: [{ type: 'text', text: { a: 1 } }] } },
    { type: 'assistant', message: 7 },
    { type: 'system', subtype: 'init', session_id: {} },
    { type: 'control_request', request_id: 'x', request: null, message: [] },
    { type: 'control_request', request_id: 'x', request: { subtype: 'hook_callback', input: [7] } },
    { type: 'result', usage: 'much', errors: [{}] },
    [null],
  ],
  codex: [
    { type: 'item.completed', item: null },
    { type: 'item.completed', item: { type: 'agent_message', text: [1] } },
    { type: 'thread.started', thread_id: 5 },
    { type: 'turn.failed', error: 'text' },
    [],
  ],
}

describe.each(['claude', 'codex'] as const)('G13, M5: what %s prints', (agent) => {
  test('G13, M5: a line of the wrong form does not end offshoot, and the run goes on', async () => {
    const repo = withStandIn(testRepo(), agent)
    const acts = wrong[agent].map((line) => ({ print: JSON.stringify(line) }))
    const prompt = play(...acts, { print: '{"type":' }, { print: 'null' }, { sh: 'echo two > two.txt' })
    const ran = await offshoot(repo, 'run', '--task', 'T1', '--agent', agent, '--json', prompt)
    expect(ran.stderr).toBe('')
    expect(ran).toMatchObject({ code: 0, json: { ok: true, task: { state: 'completed', checkpoints: 1 } } })
    expect(malformed(ran.stdout).length).toBeGreaterThan(2)
  })
})

test('G13, M5: a line of 40 MB is left out, and told', async () => {
  const repo = withStandIn(testRepo())
  const prompt = play({ long: 40_000_000 }, { sh: 'echo two > two.txt' })
  const ran = await offshoot(repo, 'run', '--task', 'T1', '--agent', 'claude', '--json', prompt)
  expect(ran).toMatchObject({ code: 0, json: { ok: true, task: { checkpoints: 1 } } })
  expect(malformed(ran.stdout)).toEqual(['a line of more than 16777216 characters was left out'])
})

const detached = (repo: TestRepo, prompt: string) =>
  offshoot(repo, 'run', '--task', 'T1', '--agent', 'claude', '--detach', '--json', prompt)

test('G13, M5: a log that is too large to be read at once is followed from where it ended', async () => {
  const repo = withStandIn(testRepo())
  const first = await detached(repo, play({ say: 'One.' }))
  const { log } = first.json as { log: string }
  const isOver = async () => !(await offshoot(repo, 'show', 'T1', '--json')).json.task.running
  while (!(await isOver()));
  expect(existsSync(log)).toBe(true)
  // Longer than the longest string.
  truncateSync(log, statSync(log).size + 600 * 1024 * 1024)
  appendFileSync(log, '\n')
  // Long enough for an onlooker to find where the run begins, on a machine with other work.
  const second = await detached(repo, play({ sh: 'sleep 12' }))
  expect(second).toMatchObject({ code: 0, json: { ok: true } })
  const followed = await offshoot(repo, 'attach', 'T1', '--json')
  expect(followed).toMatchObject({ code: 0, json: { ok: true } })
  expect(followed.stdout).toContain('sleep 12')
})
