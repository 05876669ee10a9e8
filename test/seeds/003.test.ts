/**
 * What a tool that gives each task a worktree of its own must do, under the ids by which it was asked for. How many seconds it
 * takes is measured by `npm run bench`; here only that it is no more work than it must be. AC-012 is `npm run coverage`.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compose, type ComposeOptions } from '../../src/compose.ts'
import {
  baseFolder,
  fromTemplate,
  requireBranchName,
  requireInside,
  requireTaskId,
} from '../../src/core/names.ts'
import { pruneVerdicts } from '../../src/core/prune-policy.ts'
import { defaultSettings } from '../../src/core/settings.ts'
import type { Task } from '../../src/core/task.ts'
import { type OpenRepo, openRepo, type TaskView } from '../../src/index.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import {
  branches,
  commitFile,
  inFolder,
  library,
  linkedWorktrees,
  withEnv,
  workspaceFolders,
} from '../support/workspace.ts'

const old = { olderThanMs: 0 }
const all = { prune: { minKeep: 0 } }
const names = (tasks: readonly { id: string }[]) => tasks.map(({ id }) => id)
const ids = (told: readonly { task: { id: string } }[]) => told.map(({ task }) => task.id)

/** Fails with that code, names the path where there is one, and says what to do. */
async function refused(work: Promise<unknown>, code: string): Promise<void> {
  const error = await work.then(
    () => expect.fail(`${code} was expected`),
    (thrown: { code: string; message: string; hint: string; exitCode: number }) => thrown,
  )
  expect(error.code).toBe(code)
  expect(error.message).not.toBe('')
  expect(error.hint).not.toBe('')
}

describe('a worktree that was made for a task', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'offshoot-test-'))
  let repo: TestRepo
  let lib: OpenRepo
  let task: TaskView
  let reused: boolean

  beforeAll(async () => {
    repo = testRepo({ 'a.txt': 'one\n' }, folder)
    lib = openRepo(repo.dir, { env: repo.env })
    ;({ task, reused } = await lib.start({ task: 'TASK-123' }))
  })
  afterAll(async () => {
    await lib.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('FR-001, AC-001: the interface is there, with every verb', () => {
    const verbs = ['start', 'remove', 'list', 'find', 'findByPath', 'exists', 'prune', 'recover'] as const
    for (const verb of verbs) expect(lib[verb]).toBeTypeOf('function')
  })
  test('FR-002, AC-002: it can be made', () => expect([task.id, reused]).toEqual(['TASK-123', false]))
  test('FR-004, AC-004: it is listed', async () => expect(names(await lib.list())).toEqual(['TASK-123']))
  test('FR-005, AC-006: it is found by its task', async () =>
    expect(await lib.find('TASK-123')).toMatchObject({ path: task.path }))
  test('FR-006: it is found by its path', async () =>
    expect(await lib.findByPath(task.path)).toMatchObject({ id: 'TASK-123' }))
  test('FR-007: whether it exists can be asked', async () =>
    expect([await lib.exists('TASK-123'), await lib.exists('TASK-124')]).toEqual([true, false]))
  test('FR-008: what is cancelled is not done', async () => {
    await refused(lib.start({ task: 'T2' }, AbortSignal.abort()), 'WT_021')
    await refused(lib.list({}, AbortSignal.abort()), 'WT_021')
    await refused(lib.remove({ task: 'TASK-123' }, AbortSignal.abort()), 'WT_021')
    await refused(lib.prune({}, AbortSignal.abort()), 'WT_021')
    expect(names(await lib.list())).toEqual(['TASK-123'])
  })
  test('FR-009: every verb answers a promise', () => {
    const asked = [lib.list(), lib.find('TASK-123'), lib.exists('TASK-123')]
    for (const answer of asked) expect(answer).toBeInstanceOf(Promise)
    return Promise.all(asked)
  })
  test('FR-010, FR-011: its path is checked and absolute', () =>
    expect([path.isAbsolute(task.path), path.normalize(task.path)]).toEqual([true, task.path]))
  test('FR-012, AC-015: its path is in the base', () =>
    expect(task.path.startsWith(path.join(folder, 'state/workspaces') + path.sep)).toBe(true))
  test('FR-014: by default the base is in the state folder (L4), so that nothing appears in the repository', () =>
    expect(repo.git('status', '--porcelain', '--ignored')).toBe(''))
  test('FR-015, FR-016, FR-017, FR-018: it has path, branch, commit and task', () =>
    expect(task).toMatchObject({
      path: expect.stringMatching(/^\//),
      branch: 'offshoot/TASK-123',
      head: repo.git('rev-parse', 'main').trim(),
      id: 'TASK-123',
    }))
  test('FR-019, FR-020: it has the times of its making and its last use', () => {
    expect(new Date(task.createdAt).toISOString()).toBe(task.createdAt)
    expect(Date.parse(task.lastActiveAt)).toBeGreaterThanOrEqual(Date.parse(task.createdAt))
  })
  test('FR-021: asking again gives the same one', async () =>
    expect(await lib.start({ task: 'TASK-123' })).toMatchObject({ reused: true, task: { path: task.path } }))
  test('FR-023, FR-024: its path has task and time', () =>
    expect(path.basename(task.path)).toMatch(/^TASK-123-\d{8}-\d{6}$/))
  test('FR-025, FR-026, FR-027: its branch is there, and is called by the task', () =>
    expect(branches(repo)).toEqual(['main', 'offshoot/TASK-123']))
  test('FR-028: it is ready when it is answered', () => {
    expect(readFileSync(path.join(task.path, 'a.txt'), 'utf8')).toBe('one\n')
    expect(inFolder(repo, task.path).git('status', '--porcelain', '--branch')).toBe('## offshoot/TASK-123\n')
  })
  test('IT-005: the list is that of git worktree list', async () =>
    expect((await lib.list()).map(({ path: at, branch, head }) => ({ path: at, branch, head }))).toEqual(
      linkedWorktrees(repo),
    ))
  test('AC-005, UT-003, UT-004, IT-006: which task has which worktree is known after a restart', async () => {
    const again = library(repo)
    expect(await again.find('TASK-123')).toEqual(await lib.find('TASK-123'))
  })
  test('NFR-003, NFR-004: to list and to look up starts no process', async () => {
    const nowhere = library(repo, { env: { ...repo.env, PATH: '/nowhere' } })
    expect(names(await nowhere.list())).toEqual(['TASK-123'])
    expect((await nowhere.find('TASK-123'))?.id).toBe('TASK-123')
  })
  test('NFR-013, NFR-025: every event of its life is in the log', async () =>
    expect((await lib.audit({ task: 'TASK-123' })).map(({ what }) => what)).toEqual(
      expect.arrayContaining(['start.begun', 'start.done']),
    ))
})

describe('names and paths', () => {
  const parts = {
    task: 'TASK-1',
    uid: 'abcdefgh0123456789ij',
    repo: 'repo',
    now: new Date('2026-11-15T18:01:02Z'),
  }

  test('UT-001: a path is made from the task and the time', () =>
    expect(fromTemplate(defaultSettings.workspace.name, parts)).toMatch(/^TASK-1-\d{8}-\d{6}$/))
  test('UT-002: a branch is called by convention', () => {
    expect(fromTemplate(defaultSettings.branch.name, parts)).toBe('offshoot/TASK-1')
    expect(fromTemplate('acode-task-{task}', parts)).toBe('acode-task-TASK-1')
  })
  test.each(['../up', 'a/../../b', '/etc', '..', 'a\0b', '-x', '.'])(
    'UT-007, NFR-010, NFR-011, AC-013, AC-014: %j is refused as an id',
    (id) => {
      const code = expect.stringMatching(/^WT_0(06|19)$/) as string
      expect(() => requireTaskId(id)).toThrow(expect.objectContaining({ code }))
    },
  )
  test('UT-007, NFR-011: a name that would leave the base is refused', () =>
    expect(() => requireInside('/base', '../other')).toThrow(expect.objectContaining({ code: 'WT_006' })))
  test.each(['a b', 'a..b', 'a~1', 'a^', 'x.lock', '/a', 'a/', '-a', 'a@{b', ''])(
    'UT-008: %j is refused as a branch',
    (branch) => expect(() => requireBranchName(branch)).toThrow(expect.objectContaining({ code: 'WT_019' })),
  )
  test('FR-013, AC-009: the base can be chosen, relative to the repository, absolute, or in the home', () => {
    const at = { home: '/state', repo: 'r', root: '/repo', userHome: '/me' }
    expect(['.acode/worktrees', '/wt', '~/wt', ''].map((base) => baseFolder(base, at))).toEqual([
      '/repo/.acode/worktrees',
      '/wt',
      '/me/wt',
      '/state/workspaces/r',
    ])
  })
  test('FR-014: a base inside the repository is hidden from git status', async () => {
    const repo = testRepo()
    const lib = library(repo, { flags: { workspace: { base: '.acode/worktrees' } } })
    const { task } = await lib.start({ task: 'TEST-001' })
    expect(task.path.startsWith(path.join(repo.dir, '.acode/worktrees/TEST-001-'))).toBe(true)
    expect(repo.git('status', '--porcelain')).toBe('')
  })
  test('NFR-012: a base that is a link out of the repository is refused', async () => {
    const repo = testRepo()
    const outside = path.join(repo.home, 'outside')
    mkdirSync(outside)
    symlinkSync(outside, path.join(repo.dir, 'wt'))
    await refused(library(repo, { flags: { workspace: { base: 'wt' } } }).start({ task: 'T1' }), 'WT_006')
  })
  test('FR-022, AC-016: two tasks, and one after the other of the same id, have paths of their own', async () => {
    const lib = library(testRepo())
    const first = await lib.start({ task: 'T1' })
    const other = await lib.start({ task: 'T2' })
    await lib.reject({ task: 'T1' })
    const again = await lib.start({ task: 'T1' })
    expect(new Set([first, other, again].map(({ task }) => task.path)).size).toBe(3)
  })
  test('NFR-020: a branch that is in use is refused', async () => {
    const lib = library(testRepo())
    await lib.start({ task: 'T1', branch: 'same' })
    await refused(lib.start({ task: 'T2', branch: 'same' }), 'WT_002')
  })
})

describe('the life of a worktree', () => {
  test('IT-001: it is made in a real repository, on a new branch', async () => {
    const repo = testRepo()
    const { task } = await library(repo).start({ task: 'T1', branch: 'feature/my-feature' })
    expect(linkedWorktrees(repo)).toMatchObject([{ path: task.path, branch: 'feature/my-feature' }])
  })
  test('IT-002: it is made from a branch that is there', async () => {
    const repo = testRepo()
    repo.git('branch', 'there')
    await library(repo).start({ task: 'T1', existingBranch: 'there' })
    expect(linkedWorktrees(repo)).toMatchObject([{ branch: 'there' }])
  })
  test('FR-003, AC-003, IT-003, FR-036, FR-037: removal takes folder, branch and record', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    await lib.remove({ path: task.path })
    expect([existsSync(task.path), branches(repo), linkedWorktrees(repo), await lib.exists('T1')]).toEqual([
      false,
      ['main'],
      [],
      false,
    ])
  })
  test('IT-004: removal keeps the branch on request', async () => {
    const repo = testRepo()
    const lib = library(repo)
    await lib.start({ task: 'T1' })
    await lib.remove({ task: 'T1', keepBranch: true })
    expect(branches(repo)).toEqual(['main', 'offshoot/T1'])
  })
  test('NFR-022: removal a second time does nothing', async () => {
    const lib = library(testRepo())
    await lib.start({ task: 'T1' })
    expect((await lib.remove({ task: 'T1' })).removed).toBe(true)
    expect((await lib.remove({ task: 'T1' })).removed).toBe(false)
  })
  test('FR-033, FR-034, AC-023: uncommitted changes are found, told, and not lost', async () => {
    const lib = library(testRepo(), { flags: all })
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    await refused(lib.remove({ task: 'T1' }), 'WT_004')
    const { removed, warnings } = await lib.prune(old)
    expect([removed, warnings]).toEqual([[], [expect.stringContaining('T1 stays')]])
    expect(readFileSync(path.join(task.path, 'new.txt'), 'utf8')).toBe('new\n')
  })
  test('FR-035, AC-024: it can be forced, and even then comes back', async () => {
    const lib = library(testRepo(), { flags: all })
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    expect(ids((await lib.prune({ ...old, force: true })).removed)).toEqual(['T1'])
    await lib.undo()
    expect(readFileSync(path.join(task.path, 'new.txt'), 'utf8')).toBe('new\n')
  })
  test('FR-029, NFR-009, NFR-021: a creation that fails leaves no part of it', async () => {
    const repo = testRepo()
    const fails = (name: string) => ({
      around: {
        files: (files: ReturnType<typeof compose>['files']) => ({
          ...files,
          move: async (from: string, to: string) => {
            if (to.includes(name)) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
            return files.move(from, to)
          },
        }),
      },
    })
    await refused(library(repo, fails('worktrees')).start({ task: 'T1' }), 'WT_020')
    expect([branches(repo), linkedWorktrees(repo), workspaceFolders(repo)]).toEqual([['main'], [], []])
    expect((await library(repo).start({ task: 'T1' })).reused).toBe(false)
  })
  test('FR-030, FR-032: a run that completes cleans up at once, if that is asked for', async () => {
    const repo = testRepo()
    const command = ['sh', '-c', 'echo b > b.txt']
    const kept = await library(repo).run({ task: 'T1', starts: true, command })
    expect(existsSync(kept.task.path)).toBe(true)
    const lib = library(repo, { flags: { prune: { cleanupOnComplete: true } } })
    const gone = await lib.run({ task: 'T2', starts: true, command })
    expect([existsSync(gone.task.path), repo.git('show', 'offshoot/T2:b.txt')]).toEqual([false, 'b\n'])
  })
  test('NFR-023: after a crash the next command puts everything right', async () => {
    const repo = testRepo()
    await library(repo).start({ task: 'T1' })
    const ports = compose({ env: repo.env })
    const [task] = ports.store.readTasks({ open: true })
    const dead = { pid: 2 ** 22 - 1, startedAt: '1', boot: 'before' }
    ports.store.append(task!.uid, { type: 'recreate.begun', owner: dead }, new Date().toISOString())
    await ports.close()
    const lib = library(repo)
    expect((await lib.recover()).map(({ verdict }) => verdict)).toEqual(['rolled back'])
    expect((await lib.start({ task: 'T1' })).task.id).toBe('T1')
  })
  test('NFR-024: of a record and its event both are written, or neither', async () => {
    const repo = testRepo()
    await library(repo).start({ task: 'T1' })
    const ports = compose({ env: repo.env })
    const [task] = ports.store.readTasks({ open: true })
    const events = ports.store.readEvents({}).length
    const at = new Date().toISOString()
    const both = [
      { uid: task!.uid, event: { type: 'checkpoint.failed', reason: 'no' } as const },
      { uid: 'nobody', event: { type: 'start.done' } as const },
    ]
    expect(() => ports.store.appendAll(both, at)).toThrow(expect.objectContaining({ code: 'WT_007' }))
    expect(ports.store.readEvents({})).toHaveLength(events)
    expect(ports.store.findTaskByUid(task!.uid)?.state).toBe('active')
    await ports.close()
  })
  test('FR-039, AC-007, UT-005, IT-008: a worktree whose folder was deleted is found and told', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'TEST-002' })
    rmSync(task.path, { recursive: true })
    expect((await lib.prune({ dryRun: true })).skipped).toMatchObject([
      { task: { id: 'TEST-002' }, why: 'its workspace is gone; offshoot start TEST-002 makes it again' },
    ])
    const found = (await lib.doctor()).filter(({ status }) => status !== 'ok')
    expect(JSON.stringify(found)).toContain(task.path)
  })
  test('FR-040, AC-025: it is cleaned away when it is old enough, and not before', async () => {
    const repo = testRepo()
    const lib = library(repo, { flags: all })
    const { task } = await lib.start({ task: 'T1' })
    rmSync(task.path, { recursive: true })
    expect((await lib.prune()).removed).toEqual([])
    expect(ids((await lib.prune(old)).removed)).toEqual(['T1'])
    expect([linkedWorktrees(repo), branches(repo)]).toEqual([[], ['main']])
  })
})

describe('policies and limits', () => {
  const used = (days: number): Task =>
    ({
      uid: `u${days}`,
      id: String(days),
      lastActiveAt: new Date(Date.now() - days * 86_400_000).toISOString(),
    }) as Task

  test('UT-006, FR-031, AC-008, AC-021: by age, the old are chosen, and the newest two stay', () => {
    const verdicts = pruneVerdicts([used(1), used(20), used(9), used(8)], defaultSettings, new Date())
    expect(ids(verdicts.filter(({ goes }) => goes))).toEqual(['20', '9'])
  })
  test('AC-022: by count, the oldest above the limit are chosen', () => {
    const policy = { ...defaultSettings, limits: { perRepo: 2 } }
    const verdicts = pruneVerdicts([used(1), used(2), used(3), used(4)], policy, new Date())
    expect(ids(verdicts.filter(({ goes }) => goes))).toEqual(['4', '3'])
  })
  test('NFR-019: past the limit a creation is refused, and says what to do', async () => {
    const lib = library(testRepo(), { flags: { limits: { perRepo: 2 } } })
    for (const task of ['T1', 'T2']) await lib.start({ task })
    await refused(lib.start({ task: 'T3' }), 'WT_003')
    await expect(lib.start({ task: 'T3' })).rejects.toMatchObject({ hint: expect.stringContaining('prune') })
  })
  test('NFR-006, NFR-018: how full the disk is, is looked at, and told from 90 % on', async () => {
    expect(defaultSettings.disk.warnPercent).toBe(90)
    const repo = testRepo()
    const full = (percent: number) => ({
      around: {
        files: (files: ReturnType<typeof compose>['files']) => ({
          ...files,
          readFreeSpace: async () => ({ free: 100 - percent, total: 100, network: false }),
        }),
      },
    })
    await library(repo).start({ task: 'T1' })
    expect((await library(repo, full(89)).prune()).warnings).toEqual([])
    expect((await library(repo, full(90)).prune()).warnings).toEqual([expect.stringContaining('90 % full')])
  })
  test('NFR-014: a clean-up is in the log', async () => {
    const lib = library(testRepo(), { flags: all })
    await lib.start({ task: 'T1' })
    const [removed] = (await lib.prune(old)).removed
    expect(
      (await lib.audit({ task: 'T1' })).filter(({ operation }) => operation === removed?.operation),
    ).toMatchObject([{ what: 'operation.begun', detail: 'prune' }, {}, { what: 'operation.done' }])
  })
  test('NFR-017: a clean-up does not keep anybody waiting: what is in use is left alone', async () => {
    const repo = testRepo()
    const lib = library(repo, { flags: all })
    await lib.start({ task: 'T1' })
    await lib.task('T1').run('agent', async () => {
      expect((await lib.prune({ ...old, force: true })).removed).toEqual([])
    })
    expect((await lib.list()).map(({ state }) => state)).toEqual(['completed'])
  })
  test.each([
    ['WT_002', (lib: OpenRepo) => lib.start({ task: 'T2', branch: 'offshoot/T1' })],
    ['WT_005', (lib: OpenRepo) => lib.remove({ path: '/nowhere' })],
    ['WT_006', (lib: OpenRepo) => lib.start({ task: '../T2' })],
    ['WT_007', (lib: OpenRepo) => lib.remove({ task: 'T9' })],
    ['WT_013', (lib: OpenRepo) => lib.start({ task: 't1' })],
  ] as const)('AC-011: %s is told clearly', async (code, act) => {
    const lib = library(testRepo())
    await lib.start({ task: 'T1' })
    await refused(act(lib), code)
  })
  test('NFR-015: an error has the path that it is about', async () => {
    const lib = library(testRepo())
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    await expect(lib.remove({ task: 'T1' })).rejects.toMatchObject({ path: task.path })
  })
})

describe('many at once', () => {
  test('NFR-007, AC-017, AC-019, IT-007: creations at the same time, from processes of their own, do not meet', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_LIMITS_PER_REPO: '20' })
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, n) => offshoot(repo, 'start', `T${n}`, '--json')),
    )
    expect(made.map(({ code }) => code)).toEqual(Array.from({ length: 6 }, () => 0))
    expect(new Set(made.map(({ json }) => json.task.path)).size).toBe(6)
    expect(linkedWorktrees(repo)).toHaveLength(6)
    repo.git('fsck', '--strict')
  })
  test('NFR-008, AC-018, AC-020: removals and creations of one task at the same time take their turns', async () => {
    const lib = library(testRepo())
    await lib.start({ task: 'T1' })
    const ended = await Promise.all([
      lib.remove({ task: 'T1' }),
      lib.remove({ task: 'T1' }),
      lib.remove({ task: 'T1' }),
    ])
    expect(ended.filter(({ removed }) => removed)).toHaveLength(1)
    const started = await Promise.all([lib.start({ task: 'T1' }), lib.start({ task: 'T1' })])
    expect(started.filter(({ reused }) => !reused)).toHaveLength(1)
  })
})

describe('the command', () => {
  test('E2E-001, AC-010: worktree create makes one', async () => {
    const repo = testRepo()
    const { code, json } = await offshoot(repo, 'worktree', 'create', '--task', 'T1', '--json')
    expect([code, statSync(json.task.path).isDirectory()]).toEqual([0, true])
  })
  test('E2E-002, AC-010: worktree list shows all of them', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const tasks = [await lib.start({ task: 'T1' }), await lib.start({ task: 'T2' })]
    const { stdout } = await offshoot(repo, 'worktree', 'list')
    for (const { task } of tasks) {
      expect(stdout).toContain(task.id)
      expect(stdout).toContain(task.branch)
    }
    const shown = await offshoot(repo, 'worktree', 'show', '--task', 'T2', '--json')
    expect(shown.json.task).toMatchObject({ id: 'T2', path: tasks[1]!.task.path })
  })
  test('E2E-003, AC-010: worktree remove removes it', async () => {
    const repo = testRepo()
    const { task } = await library(repo).start({ task: 'T1' })
    expect((await offshoot(repo, 'worktree', 'remove', '--task', 'T1')).code).toBe(0)
    expect([existsSync(task.path), branches(repo)]).toEqual([false, ['main']])
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
    const { json } = await offshoot(repo, 'worktree', 'prune', '--older-than', '0m', '--json')
    expect([ids(json.removed), ids(json.skipped)]).toEqual([['T1'], ['T2']])
    expect(linkedWorktrees(repo)).toHaveLength(1)
  })
  test('FR-038, NFR-016: what died half-way is looked for before every command that writes', async () => {
    const repo = testRepo()
    await library(repo).start({ task: 'T1' })
    const ports = compose({ env: repo.env })
    const [task] = ports.store.readTasks({ open: true })
    const dead = { pid: 2 ** 22 - 1, startedAt: '1', boot: 'before' }
    ports.store.append(task!.uid, { type: 'publish.begun', owner: dead }, new Date().toISOString())
    await offshoot(repo, 'list')
    expect(ports.store.readPendingTasks()).toHaveLength(1)
    await offshoot(repo, 'start', 'T2')
    expect(ports.store.readPendingTasks()).toEqual([])
    await ports.close()
  })
})

describe('what a worktree costs', () => {
  test('NFR-001, NFR-002: to make and to remove one takes git as often, however many files there are', async () => {
    const calls = async (files: number) => {
      const many = Array.from({ length: files }, (_, n) => [`f${n}.txt`, `${n}\n`])
      let count = 0
      const around: ComposeOptions['around'] = { exec: (exec) => (call) => (count++, exec(call)) }
      const lib = library(testRepo(Object.fromEntries(many)), { around })
      await lib.start({ task: 'first' })
      const before = count
      await lib.start({ task: 'T1' })
      await lib.remove({ task: 'T1' })
      return count - before
    }
    expect(await calls(500)).toBe(await calls(1))
  })

  test('NFR-005: each one more takes less than 10 MB of memory', async () => {
    const repo = testRepo()
    const lib = library(repo, { env: { ...repo.env, OFFSHOOT_LIMITS_PER_REPO: '50' } })
    const start = async (from: number, to: number) => {
      for (let n = from; n < to; n++) await lib.start({ task: `T${n}` })
      return process.memoryUsage().rss
    }
    const few = await start(0, 5)
    expect((await start(5, 15)) - few).toBeLessThan(10 * 10 * 1024 * 1024)
  })
})
