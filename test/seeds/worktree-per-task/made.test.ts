/** A worktree for each task, under the ids by which it was asked for: a worktree that was made for a task. */
import { readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OpenRepo, openRepo, type TaskView } from '../../../src/index.ts'
import { offshoot, type TestRepo, testRepo } from '../../support/repo.ts'
import { branches, inFolder, library } from '../../support/workspace.ts'
import { fileFolder } from '../../support/file-folder.ts'
import { names, everything } from './shared.ts'

describe('a worktree that was made for a task', () => {
  const folder = fileFolder(os.tmpdir())
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
  })

  test('FR-001, AC-001: the interface has every verb, and each answers of this worktree', async () => {
    expect((await lib.start({ task: 'TASK-123' })).reused).toBe(true)
    expect(names(await lib.list())).toEqual(['TASK-123'])
    expect((await lib.find('TASK-123'))?.id).toBe('TASK-123')
    expect((await lib.findByPath(task.path))?.id).toBe('TASK-123')
    expect(await lib.exists('TASK-123')).toBe(true)
    expect((await lib.worktrees()).map(({ path: at }) => at)).toEqual([repo.dir, task.path])
    expect(await lib.orphans()).toEqual([])
    expect((await lib.prune({ dryRun: true })).skipped).toMatchObject([{ task: { id: 'TASK-123' } }])
    expect(await lib.recover()).toEqual([])
    await expect(lib.remove({ task: 'TASK-124' })).rejects.toMatchObject({ code: 'WT_007' })
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
      start: () => lib.start({ task: 'T2' }, { signal }),
      list: () => lib.list({}, { signal }),
      show: () => lib.show('TASK-123', { signal }),
      checkpoint: () => lib.checkpoint({ task: 'TASK-123' }, { signal }),
      log: () => lib.log('TASK-123', { signal }),
      diff: () => lib.diff({ task: 'TASK-123' }, { signal }),
      rewind: () => lib.rewind({ task: 'TASK-123', to: 0 }, { signal }),
      run: () => lib.run({ task: 'T2', create: true, command: ['true'] }, { signal }),
      compare: () => lib.compare({ tasks: ['TASK-123', 'TASK-123'] }, { signal }),
      stop: () => lib.stop('TASK-123', { signal }),
      answer: () => lib.answer({ task: 'TASK-123' }, { signal }),
      say: () => lib.say('TASK-123', 'go on', { signal }),
      install: () => lib.install({ task: 'TASK-123' }, { signal }),
      accept: () => lib.accept({ task: 'TASK-123' }, { signal }),
      update: () => lib.update({ task: 'TASK-123' }, { signal }),
      reject: () => lib.reject({ task: 'TASK-123' }, { signal }),
      delete: () => lib.delete('TASK-123', { signal }),
      ops: () => lib.ops({ signal }),
      undo: () => lib.undo(undefined, { signal }),
      repair: () => lib.repair(undefined, { signal }),
      rebuild: () => lib.rebuild({ signal }),
      remove: () => lib.remove({ task: 'TASK-123' }, { signal }),
      prune: () => lib.prune({ olderThanMs: 0 }, { signal }),
      doctor: () => lib.doctor({ signal }),
      worktrees: () => lib.worktrees({ signal }),
      orphans: () => lib.orphans({ signal }),
      disk: () => lib.disk({}, { signal }),
      recover: () => lib.recover({ signal }),
      pool: () => lib.pool({}, { signal }),
      audit: () => lib.audit({}, { signal }),
      verifyAudit: () => lib.verifyAudit({ signal }),
      trust: () => lib.trust({}, { signal }),
      importPeers: () => lib.importPeers({}, { signal }),
      agents: () => lib.agents({ signal }),
      forget: () => lib.forget({ signal }),
      find: () => lib.find('TASK-123', { signal }),
      findByPath: () => lib.findByPath(task.path, { signal }),
      exists: () => lib.exists('TASK-123', { signal }),
      notices: () => lib.notices({ signal }),
      forecast: () => lib.forecast({}, { signal }),
    }
    const covered = [...Object.keys(asked), 'task', 'events', 'close']
    expect(Object.keys(lib).toSorted()).toEqual(covered.toSorted())
    const ofOne: Record<string, () => Promise<unknown>> = {
      show: () => one.show({ signal }),
      checkpoint: () => one.checkpoint({}, { signal }),
      log: () => one.log({ signal }),
      diff: () => one.diff({}, { signal }),
      rewind: () => one.rewind(0, { signal }),
      accept: () => one.accept({}, { signal }),
      update: () => one.update({}, { signal }),
      reject: () => one.reject({}, { signal }),
      exec: () => one.exec(['true'], { signal }),
      repair: () => one.repair({ signal }),
      remove: () => one.remove({}, { signal }),
      run: () => one.run('agent', async () => expect.fail('it ran'), { signal }),
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
