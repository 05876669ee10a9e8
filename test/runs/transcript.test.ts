import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/processes.ts'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { library } from '../support/workspace.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
const secret = `ghp_${'a1B2'.repeat(9)}`

/** Every transcript in the state folder. */
function transcripts({ home }: TestRepo): string[] {
  const vaults = path.join(home, 'state', 'vaults')
  return readdirSync(vaults, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\/tasks\/[^/]+\/runs\/[^/]+\.jsonl$/.test(name))
    .map((name) => path.join(vaults, name))
}

test('K14: log --agent shows what the agent said, tool by tool, with denials and steps', async () => {
  const repo = withStandIn(testRepo())
  const acts = play(
    { say: 'I begin.\nSecond line.' },
    { write: 'x.txt' },
    { say: `The key is ${secret}` },
    { sh: 'exit 3' },
    { use: 'Read', input: { file_path: '/etc/shadow' } },
    { say: 'All done.' },
  )
  await offshoot(repo, 'run', '--task', 'T1', acts)
  const { json } = await offshoot(repo, 'log', 'T1', '--agent', '--json')
  const [run] = json.runs
  expect(json.runs).toHaveLength(1)
  expect(run).toMatchObject({
    agent: 'claude',
    ok: true,
    startedAt: expect.any(String),
    endedAt: expect.any(String),
  })
  const done = run.events.filter(({ event }: { event: string }) => event !== 'tool.started')
  const told = done.map((one: Record<string, unknown>) => [one.event, one.text ?? one.summary ?? one.n])
  expect(told).toEqual([
    ['message', 'I begin.\nSecond line.'],
    ['tool.ended', 'x.txt'],
    ['step', 1],
    ['message', 'The key is ***'],
    ['tool.ended', 'exit 3'],
    ['denied', '/etc/shadow'],
    ['message', 'All done.'],
    ['usage', undefined],
  ])
  const { stdout } = await offshoot(repo, 'log', 'T1', '--agent')
  const lines = stdout.trimEnd().split('\n')
  expect(lines[0]).toMatch(/^claude {2}just now {2}\[\{"say":"I begin/)
  expect(lines.slice(1)).toEqual([
    'I begin.',
    'Second line.',
    '  Write x.txt',
    '  step 1 x.txt',
    'The key is ***',
    '  failed: Bash exit 3',
    expect.stringMatching(/^ {2}denied: Read \/etc\/shadow \(.+\)$/),
    'All done.',
    expect.stringMatching(/^ {2}ended: \d+ s, 1 token in, 1 out$/),
  ])
  expect((await offshoot(repo, 'log', 'T1')).stdout).toMatch(/^1 {2}\w+ {2}Write: x\.txt/)
  const [file = ''] = transcripts(repo)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).not.toContain(secret)
})

test('K14: every agent has a transcript, by the events that all of them share, and so has a command', async () => {
  const repo = withStandIn(testRepo(), 'codex')
  await offshoot(repo, 'run', '--task', 'T1', '--agent', 'codex', play({ sh: 'echo y > y.txt' }))
  await offshoot(
    repo,
    'exec',
    'T1',
    '--json',
    '--',
    'sh',
    '-c',
    `printf 'key: '; printf '${secret.slice(0, 9)}'; sleep 0.1; echo '${secret.slice(9)}'`,
  )
  const { runs } = (await offshoot(repo, 'log', 'T1', '--agent', '--json')).json
  expect(runs.map(({ agent }: { agent: string }) => agent)).toEqual(['codex', 'sh'])
  expect(runs[0].events).toContainEqual(
    expect.objectContaining({ event: 'tool.ended', summary: 'echo y > y.txt' }),
  )
  expect(runs[0].events).toContainEqual(expect.objectContaining({ event: 'step', n: 1 }))
  expect(runs[1].events).toEqual([
    expect.objectContaining({ event: 'output', stream: 'stdout', text: 'key: ***\n' }),
  ])
})

test('K14: no line of a private key is kept, though each comes by itself', async () => {
  const repo = testRepo()
  await offshoot(repo, 'start', 'T1')
  const lines = [
    'before',
    '-----BEGIN PRIVATE KEY-----',
    'MIIEowAB',
    'k3dX9+/a',
    '-----END PRIVATE KEY-----',
    'after',
  ]
  const script = `for line in "$@"; do echo "$line"; sleep 0.1; done`
  await offshoot(repo, 'exec', 'T1', '--json', '--', 'sh', '-c', script, 'sh', ...lines)
  const [run] = (await offshoot(repo, 'log', 'T1', '--agent', '--json')).json.runs
  const text = run.events.map((event: { text: string }) => event.text).join('')
  expect(text).toBe('before\n***\nafter\n')
})

test('K14: a transcript survives kill -9 up to the last event, and a damaged end breaks no reading', async () => {
  const repo = withStandIn(testRepo())
  const go = path.join(repo.home, 'go')
  const acts = play(
    { say: 'Before.' },
    { write: 'x.txt' },
    { say: 'Now I wait.' },
    { sh: `touch '${go}'; sleep 600` },
  )
  const child = spawn(process.execPath, [bin, 'run', '--task', 'T1', '--policy', 'permissive', acts], {
    cwd: repo.dir,
    env: repo.env,
    stdio: 'ignore',
  })
  const gone = new Promise((resolve) => child.on('exit', resolve))
  await until(() => existsSync(go), 'the agent is at work')
  child.kill('SIGKILL')
  await gone
  const [file = ''] = transcripts(repo)
  appendFileSync(file, '{"at":"2026-11-18T00:00:00.000Z","event":"mess')
  const { stdout } = await offshoot(repo, 'log', 'T1', '--agent')
  expect(stdout).toMatch(
    /\nBefore\.\n {2}Write x\.txt\n {2}step 1 x\.txt\nNow I wait\.\n {2}not ended: Bash touch .*\n {2}no end is recorded\n$/,
  )
})

test('K14: of a detached run log --agent shows what was said so far, and what a later run said after it', async () => {
  const repo = withStandIn(testRepo())
  const go = path.join(repo.home, 'go')
  const acts = play({ say: 'Detached.' }, { sh: `touch '${go}'; sleep 600` })
  await offshoot(repo, 'run', '--task', 'T1', '--detach', '--policy', 'permissive', acts)
  await until(() => existsSync(go), 'the agent is at work')
  expect((await offshoot(repo, 'log', 'T1', '--agent')).stdout).toContain('\nDetached.\n')
  await offshoot(repo, 'stop', 'T1')
  await offshoot(repo, 'resume', 'T1', play({ say: 'Again.' }))
  const { runs } = (await offshoot(repo, 'log', 'T1', '--agent', '--json')).json
  const said = runs.map(
    ({ events }: { events: { text?: string }[] }) => events.find(({ text }) => text)?.text,
  )
  expect(said).toEqual(['Detached.', 'Again.'])
})

test('K14: a transcript has a limit, says what it left out, and keeps the last words', async () => {
  const repo = withStandIn(testRepo())
  const acts = play({ say: 'a word '.repeat(14_000), times: 80 }, { say: 'The end.' })
  await offshoot(repo, 'run', '--task', 'T1', acts)
  const [run] = (await offshoot(repo, 'log', 'T1', '--agent', '--json')).json.runs
  expect(run.left).toBeGreaterThan(5)
  expect(run.events[0]).toMatchObject({ event: 'message', cut: expect.any(Number) })
  expect(run.events.at(-1)).toMatchObject({ event: 'message', text: 'The end.' })
  expect(run.events[0].text).toHaveLength(64 * 1024)
  expect(statSync(transcripts(repo)[0]!).size).toBeLessThan(5 * 1024 * 1024)
  expect((await offshoot(repo, 'log', 'T1', '--agent')).stdout).toContain('events left out')
})

test('K14: a transcript goes with the steps of its task', async () => {
  const repo = withStandIn(testRepo())
  await offshoot(repo, 'run', '--task', 'T1', play({ say: 'Hello.' }))
  await offshoot(repo, 'reject', 'T1')
  expect((await offshoot(repo, 'log', 'T1', '--agent')).stdout).toContain('Hello.')
  await library(repo, { flags: { trash: { keepDays: 0 } } }).prune()
  expect(transcripts(repo)).toEqual([])
})
