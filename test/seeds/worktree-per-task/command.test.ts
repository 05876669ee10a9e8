/** A worktree for each task, under the ids by which it was asked for: the command. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { compose } from '../../../src/compose/full.ts'
import { recoverMeanwhile } from '../../../src/core/recovery/periodic.ts'
import { defaultSettings } from '../../../src/core/model/settings.ts'
import { leftBehind } from '../../support/left-behind.ts'
import { until } from '../../support/processes.ts'
import { offshoot, testRepo } from '../../support/repo.ts'
import { commitFile, inFolder, library, linkedWorktrees, withEnv } from '../../support/workspace.ts'
import { append } from '../../../src/core/tasks/records.ts'
import { ids, everything, nothing } from './shared.ts'

describe('the command', () => {
  test('E2E-001, AC-010: worktree create makes one, on the branch and from the commit that are asked for', async () => {
    const repo = testRepo()
    repo.git('tag', 'v1')
    const first = repo.git('rev-parse', 'v1').trim()
    commitFile(repo, 'b.txt', 'two\n')
    const create = async (...args: string[]) =>
      (await offshoot(repo, 'worktree', 'create', '--json', ...args)).json.task
    const plain = await create('--task', 'T1')
    const other = await create('--task', 'T2', '--branch', 'feature/my-feature', '--from', 'v1')
    expect(linkedWorktrees(repo)).toEqual([
      { path: plain.path, branch: 'offshoot/T1', head: repo.git('rev-parse', 'main').trim() },
      { path: other.path, branch: 'feature/my-feature', head: first },
    ])
    expect(existsSync(path.join(plain.path, 'b.txt'))).toBe(true)
    expect(existsSync(path.join(other.path, 'b.txt'))).toBe(false)
    const told = await offshoot(repo, 'worktree', 'create', '--task', 'T3')
    expect([told.code, told.stdout]).toEqual([
      0,
      expect.stringMatching(/^Started T3 on offshoot\/T3, from main /),
    ])
  })
  test('E2E-002, AC-010: worktree list shows all of them, each with task, branch and path', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const tasks = [await lib.start({ task: 'T1' }), await lib.start({ task: 'T2' })]
    const { stdout } = await offshoot(repo, 'worktree', 'list')
    const lines = stdout.trimEnd().split('\n').slice(1)
    const head = repo.git('rev-parse', '--short=10', 'HEAD').trim()
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      ['(none)', 'main', 'main', head, repo.dir],
      ...tasks.map(({ task }) => [task.id, 'active', task.branch, head, task.path]),
    ])
    const shown = await offshoot(repo, 'worktree', 'show', '--task', 'T2', '--json')
    expect(shown.json.task).toMatchObject({ id: 'T2', path: tasks[1]!.task.path })
  })
  test.each(['--task', '--path'])('E2E-003, AC-010: worktree remove %s removes it', async (by) => {
    const repo = testRepo()
    const { task } = await library(repo).start({ task: 'T1' })
    const named = by === '--task' ? task.id : task.path
    expect((await offshoot(repo, 'worktree', 'remove', by, named)).code).toBe(0)
    expect(existsSync(task.path)).toBe(false)
    expect(await everything(repo)).toEqual(nothing)
  })
  test('AC-024, AC-010: worktree remove --force removes it with uncommitted changes, and undo brings them back', async () => {
    const repo = testRepo()
    const { task } = await library(repo).start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    expect((await offshoot(repo, 'worktree', 'remove', '--task', 'T1')).code).toBe(5)
    expect(existsSync(task.path)).toBe(true)
    expect((await offshoot(repo, 'worktree', 'remove', '--task', 'T1', '--force')).code).toBe(0)
    expect(existsSync(task.path)).toBe(false)
    expect(await everything(repo)).toEqual(nothing)
    await offshoot(repo, 'undo')
    expect(readFileSync(path.join(task.path, 'new.txt'), 'utf8')).toBe('new\n')
  })
  test('E2E-004: what is done in one task is seen neither in the checkout nor in another task', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const [one, other] = [await lib.start({ task: 'T1' }), await lib.start({ task: 'T2' })]
    commitFile(inFolder(repo, one.task.path), 'test-file.txt', 'mine\n')
    for (const folder of [repo.dir, other.task.path])
      expect([
        existsSync(path.join(folder, 'test-file.txt')),
        inFolder(repo, folder).git('status', '-s'),
      ]).toEqual([false, ''])
    expect(repo.git('log', '--format=%s', 'main')).toBe('First commit\n')
  })
  test('E2E-005, AC-010: worktree prune removes what is old', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_PRUNE_MIN_KEEP: '1' })
    const lib = library(repo)
    for (const task of ['T1', 'T2']) await lib.start({ task })
    const would = await offshoot(repo, 'worktree', 'prune', '--older-than', '0m', '--dry-run', '--json')
    expect([ids(would.json.stale), would.json.removed]).toEqual([['T1'], []])
    expect(linkedWorktrees(repo)).toHaveLength(2)
    const { json } = await offshoot(repo, 'worktree', 'prune', '--older-than', '0m', '--json')
    expect([ids(json.removed), ids(json.skipped)]).toEqual([['T1'], ['T2']])
    expect(linkedWorktrees(repo)).toHaveLength(1)
  })
  test('FR-038: orphans are looked for again and again while a run goes on', async () => {
    const repo = testRepo()
    const lib = library(repo, { flags: { recover: { everyMinutes: 0.001 } } })
    await lib.start({ task: 'other' })
    await lib.task('other').run('agent', async ({ workspace }) => {
      // Twice: the first look was not the only one.
      for (const id of ['T1', 'T2']) {
        const orphan = await leftBehind(repo, lib, id)
        await until(() => !existsSync(orphan.path), `${id} is in the trash`)
      }
      expect(existsSync(workspace)).toBe(true)
    })
    expect((await everything(repo)).tasks).toEqual(['other'])
    expect(linkedWorktrees(repo)).toMatchObject([{ branch: 'offshoot/other' }])
  })
  test('FR-038: what died half-way is looked for before every command that writes', async () => {
    const repo = testRepo()
    await library(repo).start({ task: 'T1' })
    const ports = compose({ env: repo.env })
    const [task] = await ports.store.readTasks({ open: true })
    const dead = { pid: 2 ** 22 - 1, startedAt: '1', boot: 'before' }
    await append(ports, task!.uid, { type: 'publish.begun', owner: dead }, new Date().toISOString())
    await offshoot(repo, 'list')
    expect(await ports.store.readPendingTasks()).toHaveLength(1)
    await offshoot(repo, 'start', 'T2')
    expect(await ports.store.readPendingTasks()).toEqual([])
    await ports.close()
  })
  test('NFR-016: orphans are looked for at most every 5 minutes, however many processes are at work', async () => {
    expect(defaultSettings.recover.everyMinutes).toBe(5)
    const repo = testRepo()
    await library(repo).start({ task: 'T1' })
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    let [now, looks] = [Date.now(), 0]
    const processes = [compose({ env: repo.env }), compose({ env: repo.env })].map((ports) => {
      onTestFinished(() => ports.close())
      const readDeadOwners = () => (looks++, ports.processes.readDeadOwners())
      return {
        ...ports,
        clock: { now: () => new Date(now) },
        processes: { ...ports.processes, readDeadOwners },
      }
    })
    /** How often both together have looked, at work for so many seconds. */
    const looksIn = async (seconds: number) => {
      looks = 0
      const stops = processes.map((ports) => recoverMeanwhile(ports, 5))
      now += seconds * 1000
      vi.advanceTimersByTime(seconds * 1000)
      // A look that has begun is waited for.
      await Promise.all(stops.map((stop) => stop()))
      return looks
    }
    expect(await looksIn(299)).toBe(0)
    expect(await looksIn(300)).toBe(1)
    expect(await looksIn(299)).toBe(0)
    expect(await looksIn(300)).toBe(1)
  })
})
