/** What a supervisor that runs an agent in worktrees must do for its user, from its flags to its registry. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { until } from '../support/processes.ts'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { linkedWorktrees, withEnv } from '../support/workspace.ts'

const write = (name: string) => play({ sh: `echo ${name} > ${name}.txt` })

async function run(repo: TestRepo, ...args: string[]) {
  const { code, json } = await offshoot(repo, 'run', ...args, '--json')
  expect({ code, ok: json.ok }).toEqual({ code: 0, ok: true })
  return json.task as { id: string; path: string; branch: string; state: string }
}

describe('G1, L4: flags of run', () => {
  test('--worktree works in a worktree of its own, and the checkout stays as it was', async () => {
    const repo = withStandIn(testRepo())
    const task = await run(repo, '--worktree', '--auto-continue', write('a'))
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

  test('--policy and --allowed-tools say what the agent may do', async () => {
    const repo = withStandIn(testRepo())
    const task = await run(
      repo,
      '--policy',
      'strict',
      '--allowed-tools',
      'Read,Edit',
      '--task',
      'T1',
      write('e'),
    )
    expect(existsSync(path.join(task.path, 'e.txt'))).toBe(false)
  })
})

describe('I1, L8: the registry', () => {
  test('every worktree is listed with its path and branch, and removed by its name', async () => {
    const repo = withStandIn(testRepo())
    const one = await run(repo, '--task', 'one', write('a1'))
    const two = await run(repo, '--task', 'two', write('a2'))
    const { json } = await offshoot(repo, 'worktree', 'list', '--json')
    const listed = (json.tasks as { path: string; branch: string }[]).map((task) => [task.path, task.branch])
    expect(listed).toEqual([
      [two.path, 'offshoot/two'],
      [one.path, 'offshoot/one'],
    ])
    const removed = await offshoot(
      repo,
      'worktree',
      'remove',
      path.basename(one.path),
      '--delete-branch',
      '--json',
    )
    expect(removed.json).toMatchObject({ ok: true, removed: true, branchKept: false })
    expect(linkedWorktrees(repo).map((worktree) => worktree.path)).toEqual([two.path])
    expect((await offshoot(repo, 'worktree', 'remove', 'never-there')).code).toBe(3)
  })

  test('prune --hours goes by when a worktree was last used', async () => {
    const repo = withStandIn(testRepo())
    await run(repo, '--task', 'one', write('a1'))
    expect((await offshoot(repo, 'worktree', 'prune', '--hours', '24', '--dry-run')).code).toBe(0)
    expect((await offshoot(repo, 'list', '--json')).json.tasks).toHaveLength(1)
  })
})

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
