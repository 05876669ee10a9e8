/** What runs take: time, tokens and costs, of each run and of all runs of a task, wherever a task is shown. */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { schemas } from '../../src/protocol/schemas/index.ts'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { atTerminal, noTerminal } from '../support/terminal.ts'
import { library } from '../support/workspace.ts'

const used = (input: number, cached: number, output: number, cost?: number) => ({
  result: {
    usage: { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output },
    ...(cost !== undefined && { total_cost_usd: cost }),
  },
})

const shown = async (repo: TestRepo) => (await offshoot(repo, 'show', 'T1', '--json')).json

describe('G19: what runs take', () => {
  test('G19: each run has its own, the task has the sum, and every look shows it', async () => {
    const repo = withStandIn(testRepo())
    const first = await offshoot(
      repo,
      'run',
      '--task',
      'T1',
      play({ write: 'a' }, used(2345, 10_000, 678, 0.04)),
    )
    expect(first.stdout).toMatch(/, \d+ s, 12,345 tokens in \(10,000 cached\), 678 out, \$0\.0400\n/)
    await offshoot(repo, 'exec', 'T1', '--', 'true')
    // The costs are those of the whole conversation, the tokens are not.
    const second = await offshoot(repo, 'resume', 'T1', '--json', play({ write: 'b' }, used(100, 0, 22, 0.1)))
    const { task } = second.json
    const [one, two] = [
      { inputTokens: 12_345, cachedTokens: 10_000, outputTokens: 678, costUsd: 0.04 },
      { inputTokens: 100, cachedTokens: 0, outputTokens: 22, costUsd: 0.06 },
    ]
    expect(task.lastRun).toMatchObject({ agent: 'claude', ok: true, seconds: expect.any(Number), ...two })
    const all = { inputTokens: 12_445, cachedTokens: 10_000, outputTokens: 700, costUsd: 0.1 }
    expect(task.usage).toMatchObject(all)
    const { runs, ...show } = await shown(repo)
    expect(schemas['task.show'].output.safeParse({ runs, ...show }).error).toBeUndefined()
    expect(runs).toMatchObject([{ agent: 'claude', ok: true, ...one }, { command: 'true', ok: true }, two])
    const seconds = (runs[0].seconds as number) + (runs[2].seconds as number)
    expect(show.task.usage.seconds).toBeCloseTo(seconds, 3)
    const { tasks } = (await offshoot(repo, 'list', '--json')).json
    expect(tasks[0]).toMatchObject({ usage: all, lastRun: two })
    const words = (await offshoot(repo, 'show', 'T1')).stdout
    expect(words).toMatch(/^last run +claude, \d+ s, 100 tokens in, 22 out, \$0\.0600$/m)
    expect(words).toMatch(/^all runs +\d+ s, 12,445 tokens in \(10,000 cached\), 700 out, \$0\.10$/m)
    const log = (await offshoot(repo, 'log', 'T1', '--agent')).stdout
    expect(log).toMatch(/ended: \d+ s, 12,345 tokens in \(10,000 cached\), 678 out, \$0\.0400\n/)
    expect(log).toMatch(/ended: \d+ s, 100 tokens in, 22 out, \$0\.0600$/m)
  })

  test('G19: of an agent that counts its whole conversation, each run has its own share', async () => {
    const repo = withStandIn(testRepo(), 'codex')
    const told = (input: number, output: number) => ({
      result: { usage: { input_tokens: input, output_tokens: output } },
    })
    const line = ['run', '--task', 'T1', '--agent', 'codex', '--json']
    await offshoot(repo, ...line, play({ sh: 'echo a > a' }, told(20, 10)))
    await offshoot(repo, 'resume', 'T1', '--json', play({ sh: 'echo b > b' }, told(50, 25)))
    // Another conversation begins at nothing.
    await offshoot(repo, ...line, play({ sh: 'echo c > c' }, told(30, 3)))
    const { runs, task } = await shown(repo)
    expect(
      runs.map(({ inputTokens, outputTokens }: Record<string, number>) => [inputTokens, outputTokens]),
    ).toEqual([
      [20, 10],
      [30, 15],
      [30, 3],
    ])
    expect(task.usage).toMatchObject({ inputTokens: 80, outputTokens: 28 })
    expect(task.usage).not.toHaveProperty('costUsd')
  })

  test('G19: a run that fails or is cancelled has its time; one that was killed has none', async () => {
    const repo = withStandIn(testRepo())
    await offshoot(repo, 'run', '--task', 'T1', play({ fail: 'no' }))
    const failed = (await shown(repo)).task.lastRun
    expect(failed).toMatchObject({ ok: false, reason: 'no', seconds: expect.any(Number) })
    const cancel = new AbortController()
    const onEvent = ({ event }: { event: string }) => void (event === 'tool.started' && cancel.abort())
    const waits = { task: 'T1', create: false, prompt: play({ sh: 'sleep 30' }) }
    await expect(library(repo).run(waits, { signal: cancel.signal, onEvent })).rejects.toThrow('Cancelled')
    expect((await shown(repo)).task.lastRun).toMatchObject({ ok: false, seconds: expect.any(Number) })
    await killed(repo, play({ sh: 'sleep 30' }))
    await offshoot(repo, 'recover')
    const { runs, task } = await shown(repo)
    expect(runs).toHaveLength(3)
    expect(task.lastRun).toMatchObject({ ok: false, endedAt: expect.any(String) })
    expect(task.lastRun).not.toHaveProperty('seconds')
    expect(task.usage.seconds).toBeCloseTo(runs[0].seconds + runs[1].seconds, 3)
  })

  test.skipIf(noTerminal)(
    'G19: the line at the bottom of a terminal has steps, time, tokens and costs',
    async () => {
      const repo = withStandIn(testRepo())
      const acts = play({ write: 'a' }, { sh: 'sleep 2.5' }, used(2000, 0, 500, 0.5))
      const screen = await atTerminal(repo, ['run', '--task', 'T1', acts], [])
      // It goes on while nothing is said.
      const seen = [...screen.matchAll(/Bash sleep 2\.5 · 1 step · (\d+) s/g)].map(([, seconds]) => seconds)
      expect(new Set(seen).size).toBeGreaterThan(1)
      expect(screen).toMatch(/claude · 1 step · \d+ s · 2,500 tokens · \$0\.50/)
    },
  )
})

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** Kills the command as soon as its agent uses a tool. */
function killed(repo: TestRepo, prompt: string): Promise<void> {
  const child = spawn(process.execPath, [bin, 'run', '--task', 'T1', '--json', prompt], {
    cwd: repo.dir,
    env: repo.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.on('data', (text) => String(text).includes('"tool.started"') && child.kill('SIGKILL'))
  return new Promise((resolve) => child.on('close', () => resolve()))
}
