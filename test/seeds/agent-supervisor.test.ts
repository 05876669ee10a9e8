/** What a supervisor that runs an agent in worktrees must do for its user, from its flags to its registry. */
import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { compose } from '../../src/compose/full.ts'
import { call } from '../support/call.ts'
import { testClock } from '../support/clock.ts'
import { until } from '../support/processes.ts'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { atTerminal, noTerminal } from '../support/terminal.ts'
import { branches, linkedWorktrees, withEnv } from '../support/workspace.ts'

const write = (name: string) => play({ sh: `echo ${name} > ${name}.txt` })

async function run(repo: TestRepo, ...args: string[]) {
  const { code, json } = await offshoot(repo, 'run', ...args, '--json')
  expect({ code, ok: json.ok }).toEqual({ code: 0, ok: true })
  return json.task as { id: string; path: string; branch: string; state: string }
}

describe('G1, L4: flags of run', () => {
  test('--worktree works in a worktree of its own, and the checkout stays as it was', async () => {
    const repo = withStandIn(testRepo())
    const task = await run(repo, '--worktree', write('a'))
    expect(linkedWorktrees(repo).map((worktree) => worktree.path)).toEqual([task.path])
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(repo.git('show', `${task.branch}:a.txt`)).toBe('a\n')
  })

  test('--worktree-dir inside of the repository hides itself from git', async () => {
    const repo = withStandIn(testRepo())
    const task = await run(repo, '--worktree', '--worktree-dir', '.worktrees', '--task', 'T1', write('b'))
    expect(path.dirname(task.path)).toBe(path.join(repo.dir, '.worktrees'))
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('--worktree-cleanup takes the worktree away when the task is done, and keeps its branch', async () => {
    const repo = withStandIn(testRepo())
    const task = await run(repo, '--worktree', '--worktree-cleanup', write('c'))
    expect(linkedWorktrees(repo)).toEqual([])
    expect(repo.git('show', `${task.branch}:c.txt`)).toBe('c\n')
  })

  test('the pattern for branches is a setting', async () => {
    const repo = withEnv(withStandIn(testRepo()), { OFFSHOOT_BRANCH_NAME: 'supervisor/{task}' })
    expect((await run(repo, '--task', 'fix', write('d'))).branch).toBe('supervisor/fix')
  })

  test('--policy and --allowed-tools say what the agent may do: what is allowed runs, and nothing else does', async () => {
    const repo = withStandIn(testRepo())
    const acts = play({ write: 'written.txt' }, { sh: 'echo x > shell.txt' })
    const policy = ['--policy', 'strict', '--allowed-tools', 'Write', '--task', 'T1', acts]
    const task = await run(repo, ...policy)
    expect(['written.txt', 'shell.txt'].map((name) => existsSync(path.join(task.path, name)))).toEqual([
      true,
      false,
    ])
  })

  test('allowed_tools: by default what only reads is allowed, in the workspace, and nothing else is', async () => {
    const repo = withStandIn(testRepo())
    const reads = (file: string) => ({ use: 'Read', input: { file_path: file } })
    const search = { use: 'Grep', input: { pattern: 'one' } }
    const acts = play(reads('a.txt'), search, reads('/etc/hostname'), { write: 'b.txt' })
    const { stdout } = await offshoot(repo, 'run', '--policy', 'strict', '--task', 'T1', '--json', acts)
    const decided = stdout.split('\n').flatMap((line) => {
      const told = line.startsWith('{') ? JSON.parse(line) : {}
      return told.event === 'decided' ? [[told.tool, told.allow]] : []
    })
    expect(decided).toEqual([
      ['Read', true],
      ['Grep', true],
      ['Read', false],
      ['Write', false],
    ])
  })

  test.skipIf(noTerminal)(
    '--auto-continue asks nobody, although there is a terminal, and the answer is no',
    async () => {
      const repo = withStandIn(testRepo())
      const asking = (...flags: string[]) => {
        const args = [
          'run',
          '--policy',
          'moderate',
          '--task',
          'T1',
          ...flags,
          play({ sh: 'echo x > asked.txt' }),
        ]
        return atTerminal(repo, args, [{ after: question, type: 'y\n' }])
      }
      const question = 'allow exactly this?'
      const asked = async () => existsSync(path.join(await pathOf(repo), 'asked.txt'))
      expect(await asking('--auto-continue')).not.toContain(question)
      expect(await asked()).toBe(false)
      expect(await asking()).toContain(question)
      expect(await asked()).toBe(true)
    },
  )
})

describe('I1, L8: the registry', () => {
  test('every worktree is listed with its path, branch, base, times, state and conversation, also after a restart', async () => {
    const repo = withStandIn(testRepo())
    const one = await run(repo, '--task', 'one', write('a1'))
    const failing = play({ fail: 'no more' })
    expect((await offshoot(repo, 'run', '--task', 'two', failing)).code).toBe(1)
    const { json } = await offshoot(repo, 'worktree', 'list', '--json')
    const commit = repo.git('rev-parse', 'main').trim()
    expect(json.tasks).toMatchObject([
      { id: 'two', state: 'failed', branch: 'offshoot/two', base: { branch: 'main', commit } },
      {
        id: 'one',
        state: 'completed',
        branch: 'offshoot/one',
        path: one.path,
        base: { branch: 'main', commit },
      },
    ])
    for (const { createdAt, lastActiveAt, conversation } of json.tasks) {
      expect(Date.parse(lastActiveAt)).toBeGreaterThan(Date.parse(createdAt))
      expect(conversation).toMatch(/^[\w-]+$/)
    }
  })

  test('list has the checkout and the worktrees of others, too, with no task', async () => {
    const repo = withStandIn(testRepo())
    const one = await run(repo, '--task', 'one', write('a1'))
    const foreign = path.join(repo.home, 'foreign')
    repo.git('worktree', 'add', '--quiet', '-b', 'theirs', foreign)
    const { json } = await offshoot(repo, 'worktree', 'list', '--json')
    const short = (json.worktrees as Listed[]).map(({ path: at, task, isMain }) => ({
      path: at,
      task,
      isMain,
    }))
    expect(new Set(short)).toEqual(
      new Set([
        { path: repo.dir, task: null, isMain: true },
        { path: foreign, task: null, isMain: false },
        { path: one.path, task: 'one', isMain: false },
      ]),
    )
    expect((await offshoot(repo, 'worktree', 'list')).stdout).toMatch(/^\(none\) .*foreign$/m)
  })

  test('Stale: a worktree that is gone, or that nobody used for prune.maxAgeDays', async () => {
    const repo = withStandIn(testRepo())
    const one = await run(repo, '--task', 'one', write('a1'))
    await run(repo, '--task', 'two', write('a2'))
    const stale = async (at = repo) =>
      (
        (await offshoot(at, 'list', '--state', 'stale', '--json')).json.tasks as { id: string; was: string }[]
      ).map(({ id, was }) => [id, was])
    expect(await stale()).toEqual([])
    rmSync(one.path, { recursive: true })
    expect(await stale()).toEqual([['one', 'completed']])
    expect(await stale(withEnv(repo, { OFFSHOOT_PRUNE_MAX_AGE_DAYS: '0' }))).toEqual([
      ['two', 'completed'],
      ['one', 'completed'],
    ])
    await offshoot(repo, 'start', 'one')
    expect(await stale()).toEqual([])
  })

  test('a worktree is removed by its name, and what never was is not found', async () => {
    const repo = withStandIn(testRepo())
    const one = await run(repo, '--task', 'one', write('a1'))
    const name = path.basename(one.path)
    const removed = await offshoot(repo, 'worktree', 'remove', name, '--delete-branch', '--json')
    expect(removed.json).toMatchObject({ ok: true, removed: true, branchKept: false })
    expect([linkedWorktrees(repo), branches(repo)]).toEqual([[], ['main']])
    expect((await offshoot(repo, 'worktree', 'remove', 'never-there')).code).toBe(3)
  })

  test('prune --hours goes by when a worktree was last used', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_PRUNE_MIN_KEEP: '0' })
    for (const id of ['one', 'two']) await offshoot(repo, 'start', id)
    const prune = async (hours: number, later: number) => {
      const ports = compose({ env: repo.env, clock: testClock(later / 24) })
      const olderThanMs = hours * 3_600_000
      const { removed } = await call(ports, 'task.prune', { repo: repo.dir, olderThanMs })
      await ports.close()
      return removed.map(({ task }) => task.id)
    }
    const hours = async (n: number) => {
      const { json } = await offshoot(repo, 'worktree', 'prune', '--hours', String(n), '--dry-run', '--json')
      return (json.stale as { task: { id: string } }[]).map(({ task }) => task.id)
    }
    expect([await hours(1), await hours(0)]).toEqual([[], ['one', 'two']])
    expect(await prune(24, 23)).toEqual([])
    expect(await prune(24, 25)).toEqual(['one', 'two'])
    expect([linkedWorktrees(repo), branches(repo)]).toEqual([[], ['main']])
  })

  test('the commands of the group are listed by worktree --help', async () => {
    const repo = testRepo()
    const told = await offshoot(repo, 'worktree', '--help')
    expect(told.code).toBe(0)
    for (const name of ['create', 'list', 'show', 'remove', 'prune'])
      expect(told.stdout).toMatch(new RegExp(`^  worktree ${name} `, 'm'))
    const alone = await offshoot(repo, 'worktree')
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('worktree create, worktree list')])
  })
})

interface Listed {
  readonly path: string
  readonly task: string | null
  readonly isMain: boolean
}

async function pathOf(repo: TestRepo): Promise<string> {
  return (await offshoot(repo, 'show', 'T1', '--json')).json.task.path
}

describe('G2: resume', () => {
  test('by the id of the conversation, in the same worktree', async () => {
    const repo = withStandIn(testRepo())
    const first = await offshoot(repo, 'run', '--json', write('first'))
    const second = await offshoot(repo, 'run', '--json', '--resume', first.json.conversation, write('second'))
    expect(second.json.task).toMatchObject({ id: first.json.task.id, path: first.json.task.path, runs: 2 })
    expect(second.json.conversation).toBe(first.json.conversation)
  })
})

describe('G1: --detach', () => {
  test('the run goes on without the command that began it, and stop ends it', async () => {
    const repo = withStandIn(testRepo())
    const go = path.join(repo.home, 'go')
    const prompt = play({ sh: `echo x > x.txt; touch '${go}'; sleep 600` })
    const begun = await offshoot(repo, 'run', '--task', 'T1', '--detach', '--json', prompt)
    expect(begun.json).toMatchObject({ ok: true, task: { id: 'T1' }, pid: expect.any(Number) })
    await until(() => existsSync(go), 'the agent is at work')
    expect((await offshoot(repo, 'stop', 'T1', '--json')).json).toMatchObject({
      ok: true,
      stopped: true,
      task: { state: 'failed', checkpoints: 1 },
    })
  })
})

describe('G6: the agent’s own prompt', () => {
  test('its commands for status, accept and reject are in the worktree, and in nothing that comes of it', async () => {
    const repo = withStandIn(testRepo())
    const task = await run(repo, '--task', 'T1', write('a'))
    expect((await offshoot(repo, 'agents', 'install', 'T1')).code).toBe(0)
    for (const name of ['session-status', 'accept-session', 'reject-session'])
      expect(existsSync(path.join(task.path, '.claude', 'skills', name, 'SKILL.md'))).toBe(true)
    await run(repo, '--task', 'T1', write('b'))
    expect(repo.git('diff', '--name-only', 'main', task.branch)).toBe('a.txt\nb.txt\n')
    expect((await offshoot(repo, 'accept', 'T1')).code).toBe(0)
    expect(repo.git('status', '--porcelain')).toBe(' M a.txt\n?? b.txt\n')
  })
})
