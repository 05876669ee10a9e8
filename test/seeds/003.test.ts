/**
 * What a tool that gives each task a worktree of its own must do, under the ids by which it was asked for. How many seconds it
 * takes is measured by `npm run bench`; here only that it is no more work than it must be. AC-012 is `npm run coverage`.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { call } from '../support/call.ts'
import { compose, type ComposeOptions } from '../../src/compose.ts'
import { recoverMeanwhile } from '../../src/core/meanwhile.ts'
import {
  baseFolder,
  fromTemplate,
  requireBranchName,
  requireInside,
  requireTaskId,
} from '../../src/core/names.ts'
import type { Files, Vault } from '../../src/core/ports.ts'
import { pruneVerdicts } from '../../src/core/prune-policy.ts'
import { defaultSettings } from '../../src/core/settings.ts'
import type { Task } from '../../src/core/task.ts'
import { type OpenRepo, openRepo, type TaskView } from '../../src/index.ts'
import { atEffect } from '../support/at-effect.ts'
import { withFault } from '../support/faults.ts'
import { killWhen } from '../support/kill-when.ts'
import { leftBehind, madeByHand } from '../support/left-behind.ts'
import { until } from '../support/processes.ts'
import { type Outcome, offshoot, quickFolder, type TestRepo, testRepo } from '../support/repo.ts'
import {
  branches,
  commitFile,
  copyOf,
  inFolder,
  library,
  linkedWorktrees,
  once,
  ownRefs,
  withEnv,
  workspaceFolders,
} from '../support/workspace.ts'

const old = { olderThanMs: 0 }
const all = { prune: { minKeep: 0 } }
const names = (tasks: readonly { id: string }[]) => tasks.map(({ id }) => id)
const ids = (told: readonly { task: { id: string } }[]) => told.map(({ task }) => task.id)

interface Told {
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly path?: string
}

/** Fails with that code, and says what to do. */
async function refused(work: Promise<unknown>, code: string): Promise<Told> {
  const error = await work.then(
    () => expect.fail(`${code} was expected`),
    (thrown: Told) => thrown,
  )
  expect(error.code).toBe(code)
  expect(error.message).not.toBe('')
  expect(error.hint).not.toBe('')
  return error
}

/** All that there is of tasks. */
async function everything(repo: TestRepo) {
  return {
    worktrees: linkedWorktrees(repo).map((worktree) => worktree.path),
    branches: branches(repo).filter((name) => name !== 'main'),
    refs: ownRefs(repo).filter((ref) => !/^refs\/offshoot\/(repo$|trash\/)/.test(ref)),
    folders: workspaceFolders(repo),
    tasks: names(await once(repo, (lib) => lib.list())),
  }
}

const nothing = { worktrees: [], branches: [], refs: [], folders: [], tasks: [] }

/** What doctor has to say of tasks, where that is anything. */
const complaints = async (repo: TestRepo) =>
  (await once(repo, (lib) => lib.doctor())).filter(({ status }) => status !== 'ok')

/** Some verb, as of a time to come. */
async function later<T>(
  repo: TestRepo,
  days: number,
  verb: (ports: ReturnType<typeof compose>) => Promise<T>,
): Promise<T> {
  const ports = compose({ env: repo.env })
  try {
    return await verb({ ...ports, clock: { now: () => new Date(Date.now() + days * 86_400_000) } })
  } finally {
    await ports.close()
  }
}

describe('a worktree that was made for a task', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'offshoot-test-'))
  let repo: TestRepo
  let lib: OpenRepo
  let task: TaskView
  let reused: boolean
  /** Before and after it was made. */
  let times: [Date, Date]

  beforeAll(async () => {
    repo = testRepo({ 'a.txt': 'one\n' }, folder)
    lib = openRepo(repo.dir, { env: repo.env })
    const before = new Date()
    ;({ task, reused } = await lib.start({ task: 'TASK-123' }))
    times = [before, new Date()]
  })
  afterAll(async () => {
    await lib.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('FR-001, AC-001: the interface is there, with every verb; what detects orphans is doctor', () => {
    const verbs = [
      'start',
      'remove',
      'list',
      'find',
      'findByPath',
      'exists',
      'doctor',
      'prune',
      'recover',
    ] as const
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
  test('FR-008, FR-009: every verb answers a promise, and cancelled before it begins does nothing', async () => {
    const signal = AbortSignal.abort()
    const one = lib.task('TASK-123')
    const asked: Record<string, () => Promise<unknown>> = {
      start: () => lib.start({ task: 'T2' }, signal),
      list: () => lib.list({}, signal),
      show: () => lib.show('TASK-123', signal),
      checkpoint: () => lib.checkpoint({ task: 'TASK-123' }, signal),
      log: () => lib.log('TASK-123', signal),
      diff: () => lib.diff({ task: 'TASK-123' }, signal),
      rewind: () => lib.rewind({ task: 'TASK-123', to: 0 }, signal),
      run: () => lib.run({ task: 'T2', starts: true, command: ['true'] }, signal),
      compare: () => lib.compare({ tasks: ['TASK-123', 'TASK-123'] }, signal),
      stop: () => lib.stop('TASK-123', signal),
      install: () => lib.install({ task: 'TASK-123' }, signal),
      accept: () => lib.accept({ task: 'TASK-123' }, signal),
      update: () => lib.update({ task: 'TASK-123' }, signal),
      reject: () => lib.reject({ task: 'TASK-123' }, signal),
      delete: () => lib.delete('TASK-123', signal),
      ops: () => lib.ops(signal),
      undo: () => lib.undo(undefined, signal),
      repair: () => lib.repair(undefined, signal),
      rebuild: () => lib.rebuild(signal),
      remove: () => lib.remove({ task: 'TASK-123' }, signal),
      prune: () => lib.prune({ olderThanMs: 0 }, signal),
      doctor: () => lib.doctor(signal),
      disk: () => lib.disk({}, signal),
      recover: () => lib.recover(signal),
      pool: () => lib.pool({}, signal),
      audit: () => lib.audit({}, signal),
      verifyAudit: () => lib.verifyAudit(signal),
      trust: () => lib.trust({}, signal),
      importPeers: () => lib.importPeers({}, signal),
      agents: () => lib.agents(signal),
      forget: () => lib.forget(signal),
      find: () => lib.find('TASK-123', signal),
      findByPath: () => lib.findByPath(task.path, signal),
      exists: () => lib.exists('TASK-123', signal),
      notices: () => lib.notices(signal),
    }
    const covered = [...Object.keys(asked), 'task', 'close']
    expect(Object.keys(lib).toSorted()).toEqual(covered.toSorted())
    const ofOne: Record<string, () => Promise<unknown>> = {
      show: () => one.show(signal),
      checkpoint: () => one.checkpoint({}, signal),
      log: () => one.log(signal),
      diff: () => one.diff({}, signal),
      rewind: () => one.rewind(0, signal),
      accept: () => one.accept({}, signal),
      update: () => one.update({}, signal),
      reject: () => one.reject({}, signal),
      exec: () => one.exec(['true'], signal),
      repair: () => one.repair(signal),
      remove: () => one.remove({}, signal),
      run: () => one.run('agent', async () => expect.fail('it ran'), signal),
    }
    expect(Object.keys(one).toSorted()).toEqual(Object.keys(ofOne).toSorted())
    const before = [await everything(repo), await lib.verifyAudit()]
    for (const verb of [...Object.values(asked), ...Object.values(ofOne)]) {
      const answer = verb()
      expect(answer, String(verb)).toBeInstanceOf(Promise)
      await expect(answer, String(verb)).rejects.toMatchObject({ code: 'WT_021' })
    }
    expect([await everything(repo), await lib.verifyAudit()]).toEqual(before)
  })
  test('FR-011: its path is absolute, and as plain as can be', () =>
    expect([path.isAbsolute(task.path), path.normalize(task.path)]).toEqual([true, task.path]))
  test('FR-012, AC-015: its path is in the base, and one step below it', () =>
    expect(path.dirname(path.dirname(task.path))).toBe(path.join(folder, 'state/workspaces')))
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
    const made = Date.parse(task.createdAt)
    expect(made).toBeGreaterThanOrEqual(times[0].getTime())
    expect(made).toBeLessThanOrEqual(times[1].getTime())
    const used = Date.parse(task.lastActiveAt)
    expect(used).toBeGreaterThanOrEqual(made)
    expect(used).toBeLessThanOrEqual(times[1].getTime())
  })
  test('FR-021: asking again gives the same one', async () =>
    expect(await lib.start({ task: 'TASK-123' })).toMatchObject({ reused: true, task: { path: task.path } }))
  test('FR-023, FR-024: its path has task and time', () => {
    const [date, time] = task.createdAt.replace(/[-:]/g, '').split(/[T.]/)
    expect(path.basename(task.path)).toBe(`TASK-123-${date}-${time}`)
  })
  test('FR-025, FR-026, FR-027: its branch is there, and is called by the task', () =>
    expect(branches(repo)).toEqual(['main', 'offshoot/TASK-123']))
  test('FR-028: it is ready when it is answered', () => {
    expect(readFileSync(path.join(task.path, 'a.txt'), 'utf8')).toBe('one\n')
    expect(inFolder(repo, task.path).git('status', '--porcelain', '--branch')).toBe('## offshoot/TASK-123\n')
  })
  test('AC-005, UT-003, UT-004, IT-006: which task has which worktree is known after a restart', async () => {
    const mapping = { id: 'TASK-123', path: task.path, branch: 'offshoot/TASK-123' }
    expect(await library(repo).find('TASK-123')).toMatchObject(mapping)
    const { code, json } = await offshoot(repo, 'worktree', 'show', '--task', 'TASK-123', '--json')
    expect([code, json.task]).toEqual([0, expect.objectContaining(mapping)])
  })
  test('NFR-003, NFR-004: to list and to look up starts no process', async () => {
    const nowhere = library(repo, { env: { ...repo.env, PATH: '/nowhere' } })
    expect(names(await nowhere.list())).toEqual(['TASK-123'])
    expect((await nowhere.find('TASK-123'))?.id).toBe('TASK-123')
  })
})

describe('names and paths', () => {
  const parts = {
    task: 'TASK-1',
    uid: 'abcdefgh0123456789ij',
    repo: 'repo',
    now: new Date('2026-11-15T18:01:02Z'),
  }

  test('UT-001: a path is made from the task and the time, in the base', () => {
    const name = fromTemplate(defaultSettings.workspace.name, parts)
    expect(name).toBe('TASK-1-20261115-180102')
    expect(requireInside('/state/workspaces/repo', name)).toBe(
      '/state/workspaces/repo/TASK-1-20261115-180102',
    )
  })
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
  test('FR-013: the base can be chosen, relative to the repository, absolute, or in the home', () => {
    const at = { home: '/state', repo: 'r', root: '/repo', userHome: '/me' }
    expect(['.acode/worktrees', '/wt', '~/wt', ''].map((base) => baseFolder(base, at))).toEqual([
      '/repo/.acode/worktrees',
      '/wt',
      '/me/wt',
      '/state/workspaces/r',
    ])
  })
  test('AC-009, FR-013: the configuration of the repository is respected: base, branch and limit', async () => {
    const settings = [
      'workspace:',
      '  base: .acode/worktrees',
      'branch:',
      "  name: 'acode-task-{task}'",
      'limits:',
      '  perRepo: 2',
    ]
    const repo = testRepo({ '.offshoot.yaml': settings.join('\n') })
    const create = (task: string) => offshoot(repo, 'worktree', 'create', '--task', task, '--json')
    const { json } = await create('TEST-001')
    expect(path.relative(repo.dir, json.task.path)).toMatch(/^\.acode\/worktrees\/TEST-001-\d{8}-\d{6}$/)
    expect(repo.git('branch', '--all', '--format=%(refname:short)')).toBe('acode-task-TEST-001\nmain\n')
    expect((await create('TEST-002')).code).toBe(0)
    const third = await create('TEST-003')
    expect([third.code, third.json.error.code]).toEqual([5, 'WT_003'])
    expect(linkedWorktrees(repo).map(({ branch }) => branch)).toEqual([
      'acode-task-TEST-001',
      'acode-task-TEST-002',
    ])
  })
  test('FR-014: a base inside the repository is hidden from git status', async () => {
    const repo = testRepo()
    const lib = library(repo, { flags: { workspace: { base: '.acode/worktrees' } } })
    const { task } = await lib.start({ task: 'TEST-001' })
    expect(task.path.startsWith(path.join(repo.dir, '.acode/worktrees/TEST-001-'))).toBe(true)
    expect(repo.git('status', '--porcelain')).toBe('')
  })
  test.each([
    ['a base that is a file', 'WT_001', { OFFSHOOT_WORKSPACE_BASE: 'a.txt' }],
    ['a base below a file', 'WT_001', { OFFSHOOT_WORKSPACE_BASE: 'a.txt/wt' }],
    ['a base that is the checkout', 'WT_001', { OFFSHOOT_WORKSPACE_BASE: '.' }],
    ['a base in the folder of git', 'WT_001', { OFFSHOOT_WORKSPACE_BASE: '.git/wt' }],
    ['a base that holds the user’s files', 'WT_001', { OFFSHOOT_WORKSPACE_BASE: 'src' }],
    ['a name that leaves the base', 'WT_016', { OFFSHOOT_WORKSPACE_NAME: '../{task}' }],
    ['a name with a folder in it', 'WT_016', { OFFSHOOT_WORKSPACE_NAME: 'x/{task}' }],
  ])('FR-010, FR-012, AC-015: %s is refused with %s, and nothing is made', async (_, code, env) => {
    const repo = testRepo({ 'a.txt': 'one\n', 'src/b.txt': 'two\n' })
    await refused(library(withEnv(repo, env)).start({ task: 'T1' }), code)
    expect(await everything(repo)).toEqual(nothing)
    expect(repo.git('status', '--porcelain', '--ignored')).toBe('')
    expect(readdirSync(repo.dir).toSorted()).toEqual(['.git', 'a.txt', 'src'])
  })
  test('AC-014, NFR-011: a start whose id would leave the base makes nothing, and neither does the command', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const around = readdirSync(repo.home)
    for (const task of ['../up', '../../up', 'a/../../b', '/etc/up', '..'])
      await refused(lib.start({ task }), 'WT_006')
    const { code, json } = await offshoot(repo, 'worktree', 'create', '--task', '../up', '--json')
    expect([code, json.error.code]).toEqual([2, 'WT_006'])
    expect(await everything(repo)).toEqual(nothing)
    expect(readdirSync(repo.home).filter((name) => !around.includes(name) && name !== 'state')).toEqual([])
  })
  test.each(['wt', 'wt/below'])(
    'NFR-012: a base that leads out of the repository through a link is refused: %s',
    async (base) => {
      const repo = testRepo()
      const outside = path.join(repo.home, 'outside')
      mkdirSync(outside)
      symlinkSync(outside, path.join(repo.dir, 'wt'))
      await refused(library(repo, { flags: { workspace: { base } } }).start({ task: 'T1' }), 'WT_006')
      expect(readdirSync(outside)).toEqual([])
      expect(await everything(repo)).toEqual(nothing)
    },
  )
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
  test('FR-021: a task that asks for isolation gets a worktree, and its command runs there', async () => {
    const repo = testRepo()
    const command = ['sh', '-c', 'pwd > where']
    const { task } = await library(repo).run({ task: 'T1', starts: true, command })
    expect(readFileSync(path.join(task.path, 'where'), 'utf8')).toBe(`${task.path}\n`)
    expect(linkedWorktrees(repo)).toMatchObject([{ path: task.path, branch: 'offshoot/T1' }])
    expect(existsSync(path.join(repo.dir, 'where'))).toBe(false)
  })
  test('FR-020: the time of its last use moves on with each step, that of its making does not', async () => {
    const lib = library(testRepo())
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    await lib.checkpoint({ task: 'T1' })
    const used = await lib.find('T1')
    expect(Date.parse(used!.lastActiveAt)).toBeGreaterThan(Date.parse(task.lastActiveAt))
    expect(used!.createdAt).toBe(task.createdAt)
  })
  test('IT-005: the list is that of git worktree list', async () => {
    const repo = testRepo()
    const lib = library(repo)
    for (const task of ['T1', 'T2', 'T3']) await lib.start({ task })
    await lib.remove({ task: 'T2' })
    const listed = await lib.list()
    expect(names(listed)).toEqual(['T3', 'T1'])
    const byPath = (a: { path: string }, b: { path: string }) => a.path.localeCompare(b.path)
    expect(listed.map(({ path: at, branch, head }) => ({ path: at, branch, head })).toSorted(byPath)).toEqual(
      linkedWorktrees(repo).toSorted(byPath),
    )
  })
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
  test('IT-004: removal keeps the branch on request, and nothing else', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    await lib.remove({ task: 'T1', keepBranch: true })
    expect(branches(repo)).toEqual(['main', 'offshoot/T1'])
    expect([existsSync(task.path), linkedWorktrees(repo), await lib.exists('T1')]).toEqual([false, [], false])
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
  test('FR-029, NFR-009, NFR-021: a creation that fails, whatever it is that fails, leaves no part of it', async () => {
    const template = testRepo()
    const outcomes = []
    for (let n = 1; ; n++) {
      const repo = copyOf(template)
      const fault = withFault({ kind: 'eio', at: n, when: 'before' })
      const lib = openRepo(repo.dir, { env: repo.env, around: fault.around })
      const code: string = await lib.start({ task: 'T1' }).then(
        () => 'made',
        (error: Told) => error.code,
      )
      await lib.close()
      if (!fault.struck) break
      const left = await everything(repo)
      const { reused } = await once(repo, (again) => again.start({ task: 'T1' }))
      outcomes.push({ n, at: fault.points.at(n - 1), code, left, reused })
    }
    const failed = outcomes.filter(({ code }) => code !== 'made')
    expect(failed).toEqual(
      failed.map(({ n, at }) => ({ n, at, code: 'WT_020', left: nothing, reused: false })),
    )
    expect(failed.length).toBeGreaterThan(8)
    // What nobody waits for is done again by whoever needs it: the task is there, and whole.
    const made = outcomes.filter(({ code }) => code === 'made')
    expect(made.filter(({ reused, left }) => !reused || left.worktrees.length !== 1)).toEqual([])
  })
  test('NFR-009: a removal that fails, whatever it is that fails, is whole or never was after the next command', async () => {
    const struck = []
    for (let n = 1; ; n++) {
      const repo = testRepo(undefined, quickFolder())
      const { task } = await once(repo, (lib) => lib.start({ task: 'T1' }))
      const before = await everything(repo)
      const fault = withFault({ kind: 'eio', at: n, when: 'before' })
      const lib = openRepo(repo.dir, { env: repo.env, around: fault.around })
      const code: string = await lib.remove({ task: 'T1' }).then(
        () => 'removed',
        (error: Told) => error.code,
      )
      await lib.close()
      if (!fault.struck) break
      await once(repo, (next) => next.recover())
      const after = await everything(repo)
      expect([before, nothing], `${n} ${fault.points.at(n - 1)}`).toContainEqual(after)
      if (code === 'removed') expect(after).toEqual(nothing)
      if (after.tasks.length > 0) {
        expect(readFileSync(path.join(task.path, 'a.txt'), 'utf8')).toBe('one\n')
        expect((await once(repo, (next) => next.remove({ task: 'T1' }))).removed).toBe(true)
      }
      struck.push(code)
    }
    expect(struck.filter((code) => code !== 'removed').length).toBeGreaterThan(4)
  })
  test.each(['remove', 'prune'] as const)(
    'FR-008: a %s that is cancelled, wherever it is, leaves nothing partial',
    async (verb) => {
      const ended = []
      for (let n = 1; ; n++) {
        const repo = testRepo(undefined, quickFolder())
        const { task } = await once(repo, (lib) => lib.start({ task: 'T1' }))
        // A prune with force takes a step first.
        if (verb === 'prune') writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
        const before = await everything(repo)
        const cancel = new AbortController()
        const { around, reached } = atEffect(n, () => cancel.abort())
        const lib = openRepo(repo.dir, { env: repo.env, around, flags: all })
        const work =
          verb === 'remove'
            ? lib.remove({ task: 'T1' }, cancel.signal)
            : lib.prune({ ...old, force: true }, cancel.signal)
        const code: string = await work.then(
          () => 'done',
          (error: Told) => error.code,
        )
        await lib.close()
        if (!reached()) break
        expect(code).toMatch(/^(done|WT_021)$/)
        expect(await everything(repo), `${n}`).toEqual(code === 'done' ? nothing : before)
        if (code !== 'done') expect(readFileSync(path.join(task.path, 'a.txt'), 'utf8')).toBe('one\n')
        ended.push(code)
      }
      expect(ended).toContain('WT_021')
    },
  )
  test('FR-030, FR-032: a run that completes cleans up at once, if that is asked for', async () => {
    const repo = testRepo()
    const command = ['sh', '-c', 'echo b > b.txt']
    const kept = await library(repo).run({ task: 'T1', starts: true, command })
    expect(existsSync(kept.task.path)).toBe(true)
    const lib = library(repo, { flags: { prune: { cleanupOnComplete: true } } })
    const gone = await lib.run({ task: 'T2', starts: true, command })
    expect([existsSync(gone.task.path), repo.git('show', 'offshoot/T2:b.txt')]).toEqual([false, 'b\n'])
  })
  test('NFR-023: after a crash in the middle of a creation the next command puts everything right', async () => {
    const files = Array.from({ length: 1500 }, (_, n) => [`folder-${n % 30}/file-${n}`, `${n}\n`])
    const repo = testRepo(Object.fromEntries(files))
    const registered = path.join(repo.dir, '.git/worktrees')
    const shows = () => existsSync(registered) && readdirSync(registered).length > 0
    await killWhen(repo, ['start', 'T1'], shows)
    expect(shows()).toBe(true)
    const { code, json } = await offshoot(repo, 'start', 'T2', '--json')
    expect(code).toBe(0)
    expect(await everything(repo)).toEqual({
      worktrees: [json.task.path],
      branches: ['offshoot/T2'],
      refs: [expect.stringMatching(/^refs\/offshoot\/base\/\w+$/)],
      folders: [json.task.path],
      tasks: ['T2'],
    })
    expect((await offshoot(repo, 'start', 'T1', '--json')).json.reused).toBe(false)
  })
  test('NFR-013, NFR-025: every event of a life is in the log, when it was and which commit, and the log is sealed', async () => {
    const lib = library(testRepo())
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    await lib.checkpoint({ task: 'T1', tool: 'Edit', summary: 'new.txt' })
    await lib.run({ task: 'T1', starts: false, command: ['sh', '-c', 'echo b > b.txt'] })
    await lib.reject({ task: 'T1' })
    await lib.undo()
    await lib.accept({ task: 'T1' })
    const { task: second } = await lib.start({ task: 'T2' })
    await lib.remove({ task: 'T2' })
    const told = await lib.audit()
    const plain = (detail: string) => detail.replace(/\b[0-9a-v]{20}\b/, 'ID')
    expect(told.map((entry) => `${entry.task} ${entry.what} ${plain(entry.detail)}`.trimEnd())).toEqual([
      `T1 start.begun worktree ${task.path}, branch offshoot/T1`,
      'T1 start.done',
      'T1 checkpoint step 1: Edit - new.txt',
      'T1 publish.begun',
      'T1 publish.done branch offshoot/T1',
      'T1 ports.given',
      'T1 run.begun run ID',
      'T1 checkpoint step 2: command - sh -c echo b > b.txt',
      'T1 run.ended run ID',
      'T1 publish.begun',
      'T1 publish.done branch offshoot/T1',
      'T1 operation.begun reject',
      'T1 operation.staged',
      'T1 operation.done',
      'T1 operation.begun undo of ID',
      'T1 operation.staged',
      'T1 operation.done',
      'T1 operation.begun accept',
      'T1 operation.staged',
      'T1 operation.done',
      `T2 start.begun worktree ${second.path}, branch offshoot/T2`,
      'T2 start.done',
      'T2 operation.begun remove',
      'T2 operation.staged',
      'T2 operation.done',
    ])
    for (const { at } of told) expect(new Date(at).toISOString()).toBe(at)
    for (const { what, commit } of told)
      if (/^(checkpoint|start\.begun|publish\.done)$/.test(what)) expect(commit).toMatch(/^[0-9a-f]{40}$/)
    expect(await lib.verifyAudit()).toMatchObject({ entries: told.length, flaws: [] })
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
  test('FR-039, AC-007, UT-005, IT-008: worktrees without a task are found and told, ours and those of others', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const orphan = await leftBehind(repo, lib, 'T1')
    const foreign = madeByHand(repo, orphan.path)
    const name = path.basename(orphan.path)
    expect((await complaints(repo)).filter((found) => !found.name.startsWith('pin '))).toMatchObject([
      { name: `worktree ${name}`, message: 'it is left of T1, which is closed', verdict: 'quarantine' },
      { name: 'folder by-hand', message: `${foreign} belongs to no task`, verdict: 'report' },
    ])
    const { json } = await offshoot(repo, 'recover', '--json')
    expect(json.recovered).toContainEqual(expect.objectContaining({ task: 'T1', verdict: 'quarantined' }))
    expect(json.reported).toMatchObject([{ name: 'folder by-hand' }])
  })
  test('FR-039, AC-007, IT-008: a task whose worktree was deleted is found and told', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'TEST-002' })
    rmSync(task.path, { recursive: true })
    expect((await lib.prune({ dryRun: true })).skipped).toMatchObject([
      { task: { id: 'TEST-002' }, why: 'its workspace is gone; offshoot start TEST-002 makes it again' },
    ])
    expect(await complaints(repo)).toMatchObject([
      { name: 'task TEST-002', message: `its workspace ${task.path} is gone` },
    ])
  })
  test('FR-040, AC-025: a worktree without a task is cleaned away on proof instead of age (R5): ours, dead, and in the vault', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const orphan = await leftBehind(repo, lib, 'T1')
    expect(await lib.recover()).toContainEqual(
      expect.objectContaining({ task: 'T1', verdict: 'quarantined' }),
    )
    expect([linkedWorktrees(repo), existsSync(orphan.path)]).toEqual([[], false])
    const dirty = await leftBehind(repo, lib, 'T2', { dirty: true })
    const foreign = madeByHand(repo, dirty.path)
    expect((await lib.recover()).filter(({ verdict }) => verdict === 'quarantined')).toEqual([])
    expect(new Set(linkedWorktrees(repo).map((worktree) => worktree.path))).toEqual(
      new Set([dirty.path, foreign]),
    )
    expect(readFileSync(path.join(dirty.path, 'unsaved.txt'), 'utf8')).toBe('unsaved\n')
    expect(readFileSync(path.join(foreign, 'a.txt'), 'utf8')).toBe('one\n')
  })
  test('FR-040, AC-025: a task whose worktree was deleted goes when it is old enough, and not before', async () => {
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
  test('AC-021, FR-031, AC-008: what was not used for more than 7 days goes, and before that nothing does', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const tasks: TaskView[] = []
    for (const task of ['T1', 'T2', 'T3', 'T4']) tasks.push((await lib.start({ task })).task)
    const pruned = (days: number) =>
      later(repo, days, async (ports) => ids((await call(ports, 'task.prune', { repo: repo.dir })).removed))
    const there = () => names(tasks.filter((task) => existsSync(task.path)))
    expect([await pruned(6), there()]).toEqual([[], ['T1', 'T2', 'T3', 'T4']])
    expect([await pruned(8), there()]).toEqual([
      ['T1', 'T2'],
      ['T3', 'T4'],
    ])
    expect(branches(repo)).toEqual(['main', 'offshoot/T3', 'offshoot/T4'])
  })
  test('AC-022, UT-006: by count, the oldest above the limit are chosen', () => {
    const policy = { ...defaultSettings, limits: { perRepo: 2 } }
    const verdicts = pruneVerdicts([used(1), used(2), used(3), used(4)], policy, new Date())
    expect(ids(verdicts.filter(({ goes }) => goes))).toEqual(['4', '3'])
  })
  test('AC-022: of more than the limit allows the oldest go, as many as there are too many', async () => {
    const repo = testRepo()
    for (const task of ['T1', 'T2', 'T3', 'T4']) await once(repo, (lib) => lib.start({ task }))
    const lib = library(repo, { flags: { ...all, limits: { perRepo: 2 } } })
    expect(ids((await lib.prune()).removed)).toEqual(['T1', 'T2'])
    expect(names(await lib.list())).toEqual(['T4', 'T3'])
    expect(linkedWorktrees(repo)).toHaveLength(2)
    expect(branches(repo)).toEqual(['main', 'offshoot/T3', 'offshoot/T4'])
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
  test('NFR-017: a clean-up keeps nobody waiting: in the middle of it others start, checkpoint and list', async () => {
    const repo = testRepo()
    const user = library(repo)
    for (const task of ['T1', 'T2']) await user.start({ task })
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const waits = (vault: Vault): Vault => ({
      ...vault,
      async readDirt(...args) {
        reached.resolve()
        await gate.promise
        return vault.readDirt(...args)
      },
    })
    const pruning = library(repo, { flags: all, around: { vault: waits } }).prune(old)
    await reached.promise
    const { task } = await user.start({ task: 'T3' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    expect((await user.checkpoint({ task: 'T3' })).created).toBe(true)
    expect(names(await user.list())).toEqual(['T3', 'T2', 'T1'])
    gate.resolve()
    expect(ids((await pruning).removed)).toEqual(['T1', 'T2'])
    expect(names(await user.list())).toEqual(['T3'])
  })
  test('NFR-017: a clean-up leaves alone what is in use', async () => {
    const repo = testRepo()
    const lib = library(repo, { flags: all })
    await lib.start({ task: 'T1' })
    await lib.task('T1').run('agent', async () => {
      expect((await lib.prune({ ...old, force: true })).removed).toEqual([])
    })
    expect((await lib.list()).map(({ state }) => state)).toEqual(['completed'])
  })

  interface Scene {
    readonly repo: TestRepo
    readonly lib: OpenRepo
    readonly task: TaskView
  }
  interface Row {
    readonly code: string
    readonly act: (scene: Scene) => Promise<unknown>
    readonly message: RegExp
    readonly hint: RegExp
    /** Where the error is about one. */
    readonly path?: (scene: Scene) => string
  }
  const rows: Row[] = [
    {
      code: 'WT_001',
      act: ({ repo }) => library(withEnv(repo, { OFFSHOOT_WORKSPACE_BASE: 'a.txt' })).start({ task: 'T2' }),
      message: /a\.txt is not a folder/,
      hint: /workspace\.base/,
      path: ({ repo }) => path.join(repo.dir, 'a.txt'),
    },
    {
      code: 'WT_002',
      act: ({ lib }) => lib.start({ task: 'T2', branch: 'offshoot/T1' }),
      message: /branch offshoot\/T1 is checked out in /,
      hint: /--branch NAME/,
      path: ({ task }) => task.path,
    },
    {
      code: 'WT_003',
      act: ({ repo }) => library(repo, { flags: { limits: { perRepo: 1 } } }).start({ task: 'T2' }),
      message: /has 1 open tasks; limits\.perRepo is 1/,
      hint: /offshoot prune --dry-run/,
    },
    {
      code: 'WT_004',
      act: ({ lib, task }) => {
        writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
        return lib.remove({ task: 'T1' })
      },
      message: /T1 has 1 file that no commit and no step holds/,
      hint: /offshoot checkpoint T1 .*--force/,
      path: ({ task }) => task.path,
    },
    {
      code: 'WT_005',
      act: ({ lib }) => lib.remove({ path: '/nowhere' }),
      message: /no workspace \/nowhere/,
      hint: /offshoot list --all/,
      path: () => '/nowhere',
    },
    {
      code: 'WT_006',
      act: ({ lib }) => lib.start({ task: '../T2' }),
      message: /"\.\.\/T2" would leave the base folder/,
      hint: /plain name/,
    },
    {
      code: 'WT_007',
      act: ({ lib }) => lib.remove({ task: 'T9' }),
      message: /no task T9/,
      hint: /offshoot list/,
    },
    {
      code: 'WT_008',
      act: ({ repo, task }) => {
        const held = (files: Files): Files => ({
          ...files,
          async rename(from, to) {
            if (from !== task.path) return files.rename(from, to)
            throw Object.assign(new Error('EBUSY: resource busy or locked'), { code: 'EBUSY' })
          },
        })
        return library(repo, { around: { files: held } }).remove({ task: 'T1' })
      },
      message: /folder cannot be moved: EBUSY/,
      hint: /what holds it/,
      path: ({ task }) => task.path,
    },
    {
      code: 'WT_013',
      act: ({ lib }) => lib.start({ task: 'T1', branch: 'other' }),
      message: /T1 is open already, on branch offshoot\/T1/,
      hint: /another id, or leave the branch out/,
      path: ({ task }) => task.path,
    },
    {
      code: 'WT_013',
      act: ({ lib }) => lib.start({ task: 't1' }),
      message: /T1 differs from t1 in upper and lower case only/,
      hint: /another id/,
      path: ({ task }) => task.path,
    },
  ]
  test.each(rows)(
    'AC-011, NFR-015: $code says what is wrong, what to do, and which path it is about',
    async (row) => {
      const repo = testRepo()
      const lib = library(repo)
      const scene = { repo, lib, task: (await lib.start({ task: 'T1' })).task }
      const error = await refused(row.act(scene), row.code)
      expect(error.message).toMatch(row.message)
      expect(error.hint).toMatch(row.hint)
      if (row.path) expect(error.path).toBe(row.path(scene))
    },
  )
  test('AC-011, NFR-015: the command says the same on stderr, and its exit code is that of the kind', async () => {
    const repo = testRepo()
    const { task } = await library(repo).start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    const { code, stdout, stderr } = await offshoot(repo, 'worktree', 'remove', '--task', 'T1')
    expect([code, stdout, stderr.split('\n')]).toEqual([
      5,
      '',
      [
        'error WT_004: The workspace of T1 has 1 file that no commit and no step holds.',
        `  path: ${task.path}`,
        '  changed: new.txt',
        '  hint: offshoot checkpoint T1 keeps them; with --force the folder goes into the trash as it is.',
        '',
      ],
    ])
    expect(existsSync(task.path)).toBe(true)
  })
})

describe('many at once', () => {
  const answers = (ended: readonly Outcome[]) => ended.map(({ code, json }) => json?.error?.code ?? code)

  test('NFR-007, AC-017, IT-007: 20 creations at the same time, from processes of their own, do not meet', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_LIMITS_PER_REPO: '20' })
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, n) => offshoot(repo, 'start', `T${n}`, '--json')),
    )
    expect(answers(made)).toEqual(Array.from({ length: 20 }, () => 0))
    const paths = made.map(({ json }) => json.task.path as string)
    expect(new Set(paths).size).toBe(20)
    expect(new Set(linkedWorktrees(repo).map((worktree) => worktree.path))).toEqual(new Set(paths))
    expect(branches(repo)).toHaveLength(21)
    repo.git('fsck', '--strict')
  })
  test('NFR-008, AC-018, AC-020: removals and creations of one task at the same time take their turns', async () => {
    const repo = testRepo()
    await library(repo).start({ task: 'T1' })
    const ended = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        n % 2 === 0
          ? offshoot(repo, 'worktree', 'remove', '--task', 'T1', '--json')
          : offshoot(repo, 'start', 'T1', '--json'),
      ),
    )
    expect(answers(ended)).toEqual([0, 0, 0, 0, 0, 0])
    const removed = ended.filter(({ json }) => json.removed).length
    const made = ended.filter(({ json }) => json.reused === false).length
    const left = await everything(repo)
    // The first was made before.
    expect(left.tasks).toHaveLength(1 + made - removed)
    expect(left.worktrees).toEqual((await library(repo).list()).map((task) => task.path))
    expect(left.folders).toEqual(left.worktrees)
    expect(await complaints(repo)).toEqual([])
  })
  test('AC-019: under load nobody waits for ever: verbs of 12 processes on the same tasks all end, in order', async () => {
    const repo = testRepo()
    const tasks = ['T1', 'T2', 'T3']
    const round = () =>
      Promise.all([
        ...tasks.flatMap((task) => [
          offshoot(repo, 'start', task, '--json'),
          offshoot(repo, 'checkpoint', task, '--json'),
          offshoot(repo, 'worktree', 'remove', '--task', task, '--json'),
        ]),
        ...tasks.map(() => offshoot(repo, 'prune', '--older-than', '0m', '--json')),
      ])
    const first = await round()
    for (const task of tasks) await offshoot(repo, 'start', task)
    // Somebody else is at work, or the task is not there: no other answer is fine.
    for (const { code, json, stderr } of [...first, ...(await round())])
      expect([0, 'WT_012', 'WT_007'], stderr).toContain(json?.error?.code ?? code)
    const left = await everything(repo)
    expect(left.worktrees.toSorted()).toEqual(
      (await library(repo).list()).map((task) => task.path).toSorted(),
    )
    expect(await library(repo).doctor()).toContainEqual(
      expect.objectContaining({ name: 'tasks', status: 'ok' }),
    )
  })
})

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
    expect(lines.toReversed().map((line) => line.split(/ {2,}/))).toEqual(
      tasks.map(({ task }) => [task.id, 'active', task.branch, 'just now', task.path]),
    )
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
    const [task] = ports.store.readTasks({ open: true })
    const dead = { pid: 2 ** 22 - 1, startedAt: '1', boot: 'before' }
    ports.store.append(task!.uid, { type: 'publish.begun', owner: dead }, new Date().toISOString())
    await offshoot(repo, 'list')
    expect(ports.store.readPendingTasks()).toHaveLength(1)
    await offshoot(repo, 'start', 'T2')
    expect(ports.store.readPendingTasks()).toEqual([])
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
      const work = Promise.withResolvers<void>()
      const going = processes.map((ports) => recoverMeanwhile(ports, 5, () => work.promise))
      now += seconds * 1000
      vi.advanceTimersByTime(seconds * 1000)
      work.resolve()
      // A look that has begun is waited for.
      await Promise.all(going)
      return looks
    }
    expect(await looksIn(299)).toBe(0)
    expect(await looksIn(300)).toBe(1)
    expect(await looksIn(299)).toBe(0)
    expect(await looksIn(300)).toBe(1)
  })
})

describe('what a worktree costs', () => {
  test('NFR-001, NFR-002: to make and to remove one takes few calls of git, and no more for many files', async () => {
    const calls = async (files: number) => {
      const many = Array.from({ length: files }, (_, n) => [`f${n}.txt`, `${n}\n`])
      let count = 0
      const around: ComposeOptions['around'] = { exec: (exec) => (call) => (count++, exec(call)) }
      const lib = library(testRepo(Object.fromEntries(many)), { around })
      await lib.start({ task: 'first' })
      const counted = async (verb: Promise<unknown>) => {
        const before = count
        await verb
        return count - before
      }
      return {
        start: await counted(lib.start({ task: 'T1' })),
        remove: await counted(lib.remove({ task: 'T1' })),
      }
    }
    const few = await calls(1)
    expect(await calls(500)).toEqual(few)
    expect(few.start).toBeLessThanOrEqual(5)
    expect(few.remove).toBeLessThanOrEqual(8)
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
