/** Best of several: refused before anything is made, shown live, compared with next steps, and undone as one. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { findMarked } from '../../src/process/marked.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { type Act, play, withStandIn } from '../support/stand-in.ts'
import { atTerminal, noTerminal } from '../support/terminal.ts'
import { library, withEnv } from '../support/workspace.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
const both = ['--task', 'T', '--agents', 'claude,codex']

/** A user with two agents, which speak like Claude Code and like Codex. */
const withBoth = (files?: Record<string, string>) => withStandIn(withStandIn(testRepo(files)), 'codex')

const states = async (repo: TestRepo) =>
  (await library(repo).list({ all: true })).map(({ id, state }) => `${id} ${state}`).sort()

const told = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('G9: before anything is made', () => {
  test.each([
    ['an unknown agent', 'claude,nosuch', 'nosuch', 'WT_019'],
    ['one that is not installed', 'claude,gemini', 'gemini', 'WT_005'],
    ['an empty name', 'claude,', '', 'WT_019'],
  ])('G9: %s is refused as --agent refuses it', async (_, agents, wrong, code) => {
    // Whatever is installed on this machine, this user has one agent.
    const plain = withStandIn(testRepo())
    const repo = withEnv(plain, { PATH: `${path.join(plain.home, 'bin')}:/usr/bin:/bin` })
    const refused = await offshoot(repo, 'run', '--agents', agents, '--json', play())
    expect(refused.json.error.code).toBe(code)
    if (wrong !== '') {
      const one = await offshoot(repo, 'run', '--agent', wrong, '--json', play())
      expect([refused.code, refused.json.error]).toEqual([one.code, one.json.error])
    }
    expect(await states(repo)).toEqual([])
  })

  test('G9: so are a wrong tool, and options that are for one run', async () => {
    const repo = withBoth()
    for (const [options, words] of [
      [['--allowed-tools', 'Nosuch'], 'Nosuch'],
      [['--agent', 'claude'], '--agents cannot be combined with --agent'],
      [['--detach'], '--agents cannot be combined with --detach'],
      [['--resume'], 'cannot be combined with --resume'],
      [['--cleanup'], 'cannot be combined with --cleanup'],
      [['--branch', 'b'], 'cannot be combined with --branch'],
      [['--task', '-'], '--task - is one task'],
      [['--times', '0'], '--times takes a number from 1 to 100'],
    ] as const) {
      const refused = await offshoot(repo, 'run', '--agents', 'claude,codex', ...options, play())
      expect([options, refused.code, refused.stderr]).toEqual([options, 2, expect.stringContaining(words)])
    }
    expect(await states(repo)).toEqual([])
  })

  test('G9: where only some of the tasks can be started, none stays', async () => {
    const repo = withEnv(withBoth(), { OFFSHOOT_LIMITS_PER_REPO: '2' })
    await offshoot(repo, 'start', 'mine')
    const refused = await offshoot(repo, 'run', ...both, '--json', play({ write: 'x' }))
    expect([refused.code, refused.json.error.code]).toEqual([5, 'WT_003'])
    expect((await library(repo).list()).map(({ id }) => id)).toEqual(['mine'])
  })
})

describe('G9: while they run', () => {
  test('G9: with --json each event says whose it is', async () => {
    const repo = withBoth()
    const ran = await offshoot(repo, 'run', ...both, '--json', play({ sh: 'echo x > x.txt' }))
    const events = told(ran.stdout).filter(({ event }) => event !== undefined && event !== 'progress')
    const whose = events.map(({ task, event }) => [
      event === 'started' ? (task as { id: string }).id : task,
      event,
    ])
    for (const id of ['T-1', 'T-2'])
      expect(whose.filter(([task]) => task === id).map(([, event]) => event)).toEqual(
        expect.arrayContaining(['started', 'checkpoint', 'usage']),
      )
    expect(whose.filter(([task]) => task !== 'T-1' && task !== 'T-2')).toEqual([])
  })

  test('G9: elsewhere than at a terminal, lines say whose they are', async () => {
    const repo = withBoth()
    const ran = await offshoot(repo, 'run', ...both, play({ sh: 'echo x > x.txt' }))
    for (const id of ['T-1', 'T-2']) {
      expect(ran.stderr).toMatch(new RegExp(`^${id} \\| (claude|codex) is at work on ${id}$`, 'm'))
      expect(ran.stderr).toMatch(new RegExp(`^${id} \\|   step 1 x\\.txt$`, 'm'))
      expect(ran.stderr).toMatch(new RegExp(`^${id} \\| (claude|codex) completed$`, 'm'))
    }
  })

  test.skipIf(noTerminal)(
    'G9: at a terminal each has a line, which goes on, and questions say who asks',
    async () => {
      const repo = withBoth()
      const acts: Act[] = [{ say: 'Chatter.' }, { sh: 'echo x > x.txt; sleep 1.5' }]
      const screen = await atTerminal(repo, ['run', ...both, play(...acts)], [])
      expect(screen).toMatch(/T-1 {2}Bash echo x > x\.txt; sleep 1\.5 · 0 steps · \d+ s/)
      expect(screen).toMatch(/T-2 {2}Bash echo x > x\.txt; sleep 1\.5 · 0 steps · \d+ s/)
      expect(screen).toMatch(/T-1 {2}claude completed · 1 step · \d+ s · 2 tokens/)
      expect(screen).toMatch(/T-1 \| {3}step 1 x\.txt/)
      expect(screen).not.toContain('Chatter.')
      const asks = ['run', '--task', 'Q', '--times', '2', '--policy', 'moderate', play({ sh: 'git push' })]
      const no = { after: '[N]o:', type: 'n\n' }
      const asked = await atTerminal(repo, asks, [no, no])
      expect(asked).toMatch(/Q-1 asks:\n/)
      expect(asked).toMatch(/Q-2 asks:\n/)
      expect(asked).toMatch(/Q-1: Bash: allow exactly this\?/)
    },
  )
})

describe('G9: at the end', () => {
  test('G9: a table tells agent, state, check, files, lines, time, tokens and costs, and what may come next', async () => {
    const repo = withBoth()
    const cost = { result: { usage: { input_tokens: 20, output_tokens: 10 }, total_cost_usd: 0.5 } }
    const mark = `mkdir '${repo.home}/first' && echo good > good.txt || true; echo both > both.txt`
    const ran = await offshoot(repo, 'run', ...both, '--check', 'test -e good.txt', play({ sh: mark }, cost))
    const [heads, ...rows] = ran.stdout.trimEnd().split('\n')
    expect(heads?.split(/ {2,}/)).toEqual([
      ...'TASK AGENT STATE CHECK STEPS FILES LINES TIME TOKENS COST'.split(' '),
      'ALSO CHANGED BY OTHERS',
    ])
    const good = rows.find((row) => / ok /.test(row)) ?? ''
    expect(good).toMatch(/^T-[12] +(claude|codex) +completed +ok +1 +2 +\+2 -0 +\d+ s +30 .*both\.txt$/)
    const bad = rows.find((row) => / failed /.test(row)) ?? ''
    expect(bad).toMatch(/^T-[12] +(claude|codex) +completed +failed +1 +1 +\+1 -0 +\d+ s +30 .*both\.txt$/)
    expect(rows[0]).toMatch(/^T-1 +claude .* \$0\.50 /)
    const best = good.slice(0, 3)
    expect(rows.at(-1)).toBe(
      `  offshoot compare T-1 T-2 --diff    offshoot diff ${best}    offshoot accept ${best}`,
    )
    expect((await offshoot(repo, 'compare', 'T-1', 'T-2')).stdout.split('\n')[1]).toMatch(/^T-1 +claude /)
  })

  test('G9: one that fails does not stop the others; where all fail, the exit code says so', async () => {
    const repo = withBoth()
    // Of the two, only Claude Code gives up so.
    const one = await offshoot(repo, 'run', ...both, play({ sh: 'echo x > x' }, { fail: 'out to lunch' }))
    expect(one.code).toBe(0)
    expect(one.stdout).toMatch(/^T-1 +claude +failed .*\nT-2 +codex +completed /m)
    expect(one.stdout).toContain('offshoot accept T-2')
    expect(one.stderr).toContain('T-1 | claude failed: out to lunch')
    const all = await offshoot(repo, 'run', '--task', 'F', '--times', '2', play({ fail: 'no' }))
    expect([all.code, all.stdout]).toEqual([1, expect.stringContaining('offshoot accept TASK')])
  })

  test('G9: Ctrl-C ends all of them, and names the steps that hold their work', async () => {
    const repo = withBoth()
    const seen = path.join(repo.home, 'seen')
    const waits = `echo x > x.txt; touch "${seen}-$(basename "$PWD" | cut -c1-3)"; sleep 60`
    const child = spawn(
      process.execPath,
      [bin, 'run', ...both, play({ sh: 'echo a > a.txt' }, { sh: waits })],
      {
        cwd: repo.dir,
        env: repo.env,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let stderr = ''
    child.stderr.on('data', (text) => (stderr += text))
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    const areBusy = () => ['T-1', 'T-2'].every((id) => existsSync(`${seen}-${id}`))
    while (!areBusy()) await new Promise((resolve) => setTimeout(resolve, 20))
    const runs = (await library(repo).list()).map(({ lastRun }) => lastRun?.run ?? '')
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    expect(stderr).toContain(
      'error WT_021: Cancelled; what T-1 did is steps 1 to 2, what T-2 did is steps 1 to 2.',
    )
    expect(stderr).toContain('offshoot reject T-1; offshoot reject T-2')
    for (const run of runs) expect(findMarked(run)).toEqual([])
    for (const id of ['T-1', 'T-2'])
      expect((await library(repo).diff({ task: id })).files.map((file) => file.path)).toEqual([
        'a.txt',
        'x.txt',
      ])
  })
})

describe.skipIf(noTerminal)('P3: an accept and the rejects of its siblings are undone as one', () => {
  /** Three siblings, of which the second is accepted and the others are rejected with it. */
  async function accepted() {
    const repo = withBoth({ 'a.txt': 'one\n' })
    await offshoot(repo, 'run', '--task', 'T', '--times', '3', play({ sh: 'echo x > x.txt' }))
    const yes = { after: '[y/N]', type: 'y\n' }
    const screen = await atTerminal(repo, ['accept', 'T-2'], [yes])
    expect(screen).toContain('Rejected T-1; the undo brings it back, too')
    expect(await states(repo)).toEqual(['T-1 rejected', 'T-2 accepted', 'T-3 rejected'])
    return repo
  }
  const before = ['T-1 completed', 'T-2 completed', 'T-3 completed']
  const isLanded = (repo: TestRepo) => existsSync(path.join(repo.dir, 'x.txt'))

  test('P3: without a name, and the redo as well', async () => {
    const repo = await accepted()
    const undone = await offshoot(repo, 'undo')
    expect(undone.stdout).toMatch(
      /^Undid accept of T-2 \(1 file\)\nUndid reject of T-1\nUndid reject of T-3\n {2}redo: offshoot undo (\w{6})\n$/,
    )
    expect([await states(repo), isLanded(repo)]).toEqual([before, false])
    const redo = /undo (\w{6})/.exec(undone.stdout)?.[1] ?? ''
    expect((await offshoot(repo, 'undo', redo)).code).toBe(0)
    expect([await states(repo), isLanded(repo)]).toEqual([
      ['T-1 rejected', 'T-2 accepted', 'T-3 rejected'],
      true,
    ])
    expect((await offshoot(repo, 'undo', '--json')).json.also).toHaveLength(2)
    expect([await states(repo), isLanded(repo)]).toEqual([before, false])
  })

  test('P3: by the name of the accept too; by that of a reject, that one alone', async () => {
    const repo = await accepted()
    const { operations } = (await offshoot(repo, 'ops', '--json')).json
    const [third, first, accept] = operations as { id: string; batch?: string }[]
    expect([first?.batch, third?.batch]).toEqual([accept?.id, accept?.id])
    const listed = (await offshoot(repo, 'ops')).stdout.split('\n')
    expect(listed[0]).toMatch(new RegExp(`reject +T-3 .* with accept ${accept!.id.slice(0, 6)}$`))
    await offshoot(repo, 'undo', first!.id)
    expect(await states(repo)).toEqual(['T-1 completed', 'T-2 accepted', 'T-3 rejected'])
    expect((await offshoot(repo, 'undo', accept!.id, '--json')).json.also).toHaveLength(1)
    expect(await states(repo)).toEqual(before)
  })

  test('P3: where the accept cannot be undone, nothing is; where a reject cannot, that is told', async () => {
    const repo = await accepted()
    repo.write('x.txt', 'mine\n')
    const refused = await offshoot(repo, 'undo', '--json')
    expect([refused.code, refused.json.error.code]).toEqual([4, 'WT_011'])
    expect(await states(repo)).toEqual(['T-1 rejected', 'T-2 accepted', 'T-3 rejected'])
    repo.write('x.txt', 'x\n')
    await offshoot(repo, 'start', 'T-1')
    const part = await offshoot(repo, 'undo')
    expect([part.code, part.stdout]).toEqual([1, expect.stringContaining('Undid accept of T-2')])
    const [, left = ''] =
      /Not undone: (\w{6}) of T-1: A new task T-1 was started since/.exec(part.stdout) ?? []
    await offshoot(repo, 'reject', 'T-1')
    // What is left of it is undone by its name, as anything else.
    expect((await offshoot(repo, 'undo', left)).stdout).toContain('Undid reject of T-1\n')
    expect(await states(repo)).toEqual(['T-1 completed', 'T-1 rejected', 'T-2 completed', 'T-3 completed'])
  })

  test('P3: a reject belongs to an accept of that repository, or it is refused', async () => {
    const repo = await accepted()
    const open = library(repo)
    await open.start({ task: 'other' })
    await expect(open.reject({ task: 'other', batch: 'nosuch' })).rejects.toMatchObject({ code: 'WT_005' })
    expect((await open.show('other')).state).toBe('active')
  })
})
