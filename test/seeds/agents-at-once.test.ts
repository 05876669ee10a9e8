/**
 * What a service that runs several agents on one repository at once must do with their worktrees, by the numbers of its
 * chapters. Not yet, as there is no daemon and no container: 2.1 and 8.2 mounts and labels; 3.3 metadata; 3.4 and B
 * `orchestrator.start` with its priority; 7.3 metadata of a task; 7.4 `task.close`; 8.4 the clean-up by a timer; 8.5 and 10
 * endpoints and messages.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { fingerprint } from '../support/fingerprint.ts'
import { killWhen } from '../support/kill-when.ts'
import { until } from '../support/processes.ts'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { branches, commitFile, inFolder, library, linkedWorktrees, withEnv } from '../support/workspace.ts'

const write = (name: string, text = name) => play({ sh: `echo ${text} > ${name}.txt` })

async function run(repo: TestRepo, task: string, ...args: string[]) {
  const { code, json } = await offshoot(repo, 'run', '--task', task, '--json', ...args)
  expect({ code, ok: json.ok }).toEqual({ code: 0, ok: true })
  return json.task as { id: string; path: string; branch: string; state: string; runs: number }
}

const textIn = (folder: string, name: string) => readFileSync(path.join(folder, name), 'utf8')

describe('1, 7, 9: where worktrees are, and what is known of them (L3, L4, L8)', () => {
  test('1, 9: base_path, a folder that outlives a restart, has the worktrees by their tasks', async () => {
    const plain = testRepo()
    const base = path.join(plain.home, 'worktrees')
    const repo = withEnv(plain, { OFFSHOOT_WORKSPACE_BASE: base })
    const { task } = await library(repo).start({ task: 'T1' })
    expect(path.relative(base, task.path)).toMatch(/^T1-\d{8}-\d{6}$/)
    const { task: usual } = await library(plain).start({ task: 'T2' })
    expect(usual.path.startsWith(path.join(plain.home, 'state') + path.sep)).toBe(true)
  })

  test('7.1: repository, path, branch, base branch, times and status are kept, and how and when it was closed', async () => {
    const repo = withStandIn(testRepo())
    const ran = await run(repo, 'T1', write('a'))
    const shown = async () => (await offshoot(repo, 'show', 'T1', '--json')).json.task
    const open = await shown()
    expect(open).toMatchObject({
      id: 'T1',
      origin: repo.dir,
      path: ran.path,
      branch: 'offshoot/T1',
      base: { branch: 'main', commit: repo.git('rev-parse', 'main').trim() },
      state: 'completed',
    })
    expect(Date.parse(open.lastActiveAt)).toBeGreaterThan(Date.parse(open.createdAt))
    expect(open).not.toHaveProperty('closedAt')
    await offshoot(repo, 'accept', 'T1', '--as', 'merge')
    const merged = await shown()
    expect(merged).toMatchObject({ state: 'accepted', closedBy: 'accept' })
    expect(Date.parse(merged.closedAt)).toBeGreaterThanOrEqual(Date.parse(open.lastActiveAt))
  })
})

describe('2: the life of a worktree (L1, L7)', () => {
  test('2.1: the first launch makes it, the next one finds it with all that was done', async () => {
    const repo = withStandIn(testRepo())
    const first = await run(repo, 'T1', write('a'))
    const second = await run(repo, 'T1', play({ sh: 'cat a.txt > seen.txt' }))
    expect([second.path, second.runs]).toEqual([first.path, 2])
    expect(textIn(second.path, 'seen.txt')).toBe('a\n')
    expect(linkedWorktrees(repo)).toMatchObject([{ path: first.path, branch: 'offshoot/T1' }])
  })

  test('2.1, 2.2: what is not committed is there for the next launch, and is a step of its own', async () => {
    const repo = withStandIn(testRepo())
    const { path: at } = await run(repo, 'T1', write('a'))
    writeFileSync(path.join(at, 'by-hand.txt'), 'mine\n')
    await run(repo, 'T1', play({ sh: 'cat by-hand.txt > seen.txt' }))
    expect(textIn(at, 'seen.txt')).toBe('mine\n')
    const steps = await library(repo).log('T1')
    expect(steps.map(({ files }) => files.map((file) => file.path))).toEqual([
      ['a.txt'],
      ['by-hand.txt'],
      ['seen.txt'],
    ])
  })

  test.each([
    ['deleted', (at: string) => rmSync(at, { recursive: true })],
    ['damaged', (at: string) => writeFileSync(path.join(at, '.git'), 'garbage\n')],
  ])('2.1, 2.2, 6.3: one that was %s is made again from the last step', async (how, harm) => {
    const repo = withStandIn(testRepo())
    const { path: at } = await run(repo, 'T1', write('a'))
    harm(at)
    expect((await offshoot(repo, 'repair', 'T1', '--json')).json.mended).toBe(
      how === 'deleted' ? 'recreated' : 'mended',
    )
    expect(await run(repo, 'T1', write('b'))).toMatchObject({ path: at, state: 'completed' })
    expect([textIn(at, 'a.txt'), textIn(at, 'b.txt')]).toEqual(['a\n', 'b\n'])
  })

  test('2.4: a task whose folder is missing is marked, until it is made again', async () => {
    const repo = withStandIn(testRepo())
    const { path: at } = await run(repo, 'T1', write('a'))
    rmSync(at, { recursive: true })
    expect((await offshoot(repo, 'show', 'T1', '--json')).json.task).toMatchObject({
      state: 'stale',
      was: 'completed',
      reason: 'its workspace is gone',
    })
    expect((await run(repo, 'T1', write('b'))).state).toBe('completed')
  })

  test('2.3: it stays when the agent has ended, and when it was cancelled', async () => {
    const repo = withStandIn(testRepo())
    const done = await run(repo, 'done', write('a'))
    const go = path.join(repo.home, 'go')
    const long = play({ sh: `echo x > x.txt; touch '${go}'; sleep 600` })
    const begun = await offshoot(repo, 'run', '--task', 'cancelled', '--detach', '--json', long)
    await until(() => existsSync(go), 'the agent is at work')
    expect((await offshoot(repo, 'stop', 'cancelled', '--json')).json.stopped).toBe(true)
    expect([textIn(done.path, 'a.txt'), textIn(begun.json.task.path, 'x.txt')]).toEqual(['a\n', 'x\n'])
  })

  test('2.3, 8.4: after a crash the next start reconciles, and the worktree has all of its work', async () => {
    const repo = testRepo()
    const { path: at } = (await library(repo).start({ task: 'T1' })).task
    const agent = ['exec', 'T1', '--', 'sh', '-c', 'echo work > .new; mv .new work.txt; sleep 300']
    await killWhen(repo, agent, () => existsSync(path.join(at, 'work.txt')))
    await library(repo).start({ task: 'other' })
    expect((await library(repo).log('T1')).map(({ files }) => files.map((file) => file.path))).toEqual([
      ['work.txt'],
    ])
    expect(textIn(at, 'work.txt')).toBe('work\n')
  })

  test('2.3, 7.2: with its task it goes, and with its repository all of them', async () => {
    const repo = testRepo()
    const lib = library(repo)
    for (const task of ['T1', 'T2', 'T3']) await lib.start({ task })
    await lib.delete('T1')
    expect(linkedWorktrees(repo)).toHaveLength(2)
    expect((await lib.list({ all: true })).map(({ id }) => id)).toEqual(['T3', 'T2'])
    expect((await offshoot(repo, 'repos', 'forget', repo.dir)).code).toBe(0)
    expect([linkedWorktrees(repo), branches(repo)]).toEqual([[], ['main']])
  })

  test('2.3: by time alone nothing goes', async () => {
    const repo = testRepo()
    const { task } = await library(repo).start({ task: 'T1' })
    const later = new Date(Date.now() + 365 * 86_400_000)
    const lib = library(repo, { clock: { now: () => later } })
    await lib.start({ task: 'T2' })
    expect(existsSync(task.path)).toBe(true)
    expect((await lib.list({ state: 'stale' })).map(({ id, reason }) => [id, reason])).toEqual([
      ['T1', 'not used for 365 days'],
    ])
  })
})

describe('3, 4: launching, branches and merging (L3, L5, G1, A2)', () => {
  test('3.3: BaseBranch: a launch names where its task starts, its branch, and its isolation', async () => {
    const repo = withStandIn(testRepo())
    repo.git('branch', 'release')
    commitFile(repo, 'later.txt', 'later\n')
    const launch = ['--from', 'release', '--branch', 'agents/one', '--isolation', 'clone', write('a')]
    const task = await run(repo, 'T1', ...launch)
    expect(task).toMatchObject({
      branch: 'agents/one',
      isolation: 'clone',
      base: { branch: 'release', commit: repo.git('rev-parse', 'release').trim() },
    })
    expect(existsSync(path.join(task.path, 'later.txt'))).toBe(false)
    expect(repo.git('show', 'agents/one:a.txt')).toBe('a\n')
    const again = await offshoot(repo, 'run', '--task', 'T1', '--branch', 'agents/two', '--json', write('b'))
    expect([again.code, again.json.error.code]).toEqual([5, 'WT_013'])
  })

  test('3.3: UseWorktree=false: the agent works in the checkout itself, without a task', async () => {
    const repo = withStandIn(testRepo())
    const { code, json } = await offshoot(repo, 'run', '--isolation', 'direct', '--json', write('a'))
    expect([code, json]).toEqual([0, { ok: true, direct: true, agent: 'claude' }])
    expect(repo.git('status', '--porcelain')).toBe(' M a.txt\n')
    expect([linkedWorktrees(repo), (await library(repo).list({ all: true })).length]).toEqual([[], 0])
  })

  test('4.1, 4.3: branches are named by a pattern, and never twice', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_BRANCH_NAME: 'kandev/{task}' })
    repo.git('branch', 'kandev/T2')
    const { task } = await library(repo).start({ task: 'T1' })
    expect(task.branch).toBe('kandev/T1')
    await expect(library(repo).start({ task: 'T2' })).rejects.toMatchObject({ code: 'WT_002' })
    expect(branches(repo)).toEqual(['kandev/T1', 'kandev/T2', 'main'])
  })

  test.each([
    ['merge', 3],
    ['squash', 2],
    ['rebase', 3],
  ] as const)(
    '4.4: the work comes onto the base branch by %s, and is cleaned up after it',
    async (as, count) => {
      const repo = testRepo()
      const lib = library(repo)
      const { task } = await lib.start({ task: 'T1', title: 'Work' })
      for (const name of ['one', 'two']) {
        writeFileSync(path.join(task.path, `${name}.txt`), `${name}\n`)
        await lib.checkpoint({ task: 'T1', tool: 'Write', summary: name })
      }
      await lib.accept({ task: 'T1', as })
      expect(repo.git('rev-list', '--count', '--first-parent', 'main')).toBe(
        `${as === 'merge' ? 2 : count}\n`,
      )
      expect([repo.git('show', 'main:one.txt'), repo.git('show', 'main:two.txt')]).toEqual(['one\n', 'two\n'])
      expect(repo.git('status', '--porcelain')).toBe('')
      expect([linkedWorktrees(repo), branches(repo), existsSync(task.path)]).toEqual([[], ['main'], false])
      expect(await lib.find('T1')).toMatchObject({ state: 'accepted', closedBy: 'accept' })
    },
  )

  test('4.4: discarded, nothing of it is left in the checkout', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const before = fingerprint(repo)
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'a.txt'), 'agent\n')
    await lib.reject({ task: 'T1' })
    expect(fingerprint(repo)).toEqual(before)
    expect([linkedWorktrees(repo), branches(repo)]).toEqual([[], ['main']])
    expect((await lib.find('T1'))?.closedAt).toMatch(/^\d{4}-/)
  })
})

describe('5: at once (S2, G5, L11)', () => {
  test('5, 11: several agents work at once, each in a worktree of its own, and each lands', async () => {
    const repo = withStandIn(testRepo())
    const ids = ['one', 'two', 'three']
    const tasks = await Promise.all(ids.map((id) => run(repo, id, write(id))))
    expect(new Set(tasks.map((task) => task.path)).size).toBe(3)
    for (const [n, { path: at }] of tasks.entries())
      expect(ids.filter((id) => existsSync(path.join(at, `${id}.txt`)))).toEqual([ids[n]])
    for (const id of ids) expect((await offshoot(repo, 'accept', id)).code).toBe(0)
    expect(repo.git('status', '--porcelain')).toBe('?? one.txt\n?? three.txt\n?? two.txt\n')
  })

  test('5.2: objects are shared: a worktree has no copy of the history', async () => {
    const repo = testRepo()
    const { task } = await library(repo).start({ task: 'T1' })
    const at = inFolder(repo, task.path)
    expect(at.git('rev-parse', '--path-format=absolute', '--git-common-dir').trim()).toBe(
      path.join(repo.dir, '.git'),
    )
  })

  test('5.3, 9: past max_per_repo a launch is refused', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_LIMITS_PER_REPO: '1' })
    await library(repo).start({ task: 'T1' })
    const { code, json } = await offshoot(repo, 'run', '--task', 'T2', '--json', '--', 'true')
    expect([code, json.error.code]).toEqual([5, 'WT_003'])
  })
})

describe('6: errors (I5)', () => {
  test.each([
    ['ErrWorktreeNotFound', ['worktree', 'remove', '--json', 'nowhere'], 3, ['WT_005', 'WT_007']],
    ['ErrBranchExists', ['start', '--json', 'T2', '--branch', 'taken'], 5, ['WT_002']],
    ['ErrInvalidBaseBranch', ['start', '--json', 'T2', '--from', 'no-such-branch'], 3, ['WT_010']],
    [
      'ErrInvalidBaseBranch, of a launch',
      ['run', '--json', '--from', 'no-such-branch', '--', 'true'],
      3,
      ['WT_010'],
    ],
  ])('6.1, 6.2: %s, and nothing is left of it', async (_, words, exit, codes) => {
    const repo = testRepo()
    repo.git('branch', 'taken')
    const { code, json } = await offshoot(repo, ...words)
    expect(code).toBe(exit)
    expect(codes).toContain(json.error.code)
    expect(json.error.hint).not.toBe('')
    expect([linkedWorktrees(repo), branches(repo)]).toEqual([[], ['main', 'taken']])
    expect(await library(repo).list({ all: true })).toEqual([])
  })

  test('6.1: ErrWorktreeLocked: a second agent in a task is refused, and the refusal names the task', async () => {
    const repo = withStandIn(testRepo())
    const lib = library(repo)
    await lib.start({ task: 'T1' })
    await lib.task('T1').run('agent', async () => {
      const { code, json } = await offshoot(repo, 'run', '--task', 'T1', '--json', write('b'))
      expect([code, json.error.code]).toEqual([5, 'WT_012'])
      expect(json.error.message).toMatch(/\bT1\b/)
    })
    expect(existsSync(path.join((await lib.show('T1')).path, 'b.txt'))).toBe(false)
  })
})

describe('12: switched off (L9)', () => {
  test('12: agents go on without worktrees where the user said so, and those that are there stay', async () => {
    const repo = withStandIn(testRepo())
    const { path: at } = await run(repo, 'T1', write('a'))
    const off = withEnv(repo, { OFFSHOOT_ENABLED: '0', OFFSHOOT_ISOLATION_FALLBACK: 'direct' })
    expect((await offshoot(off, 'run', '--json', write('b'))).json).toMatchObject({ direct: true })
    expect(textIn(repo.dir, 'b.txt')).toBe('b\n')
    expect(textIn(at, 'a.txt')).toBe('a\n')
    expect((await offshoot(off, 'accept', 'T1')).code).toBe(0)
    expect(textIn(repo.dir, 'a.txt')).toBe('a\n')
  })
})
