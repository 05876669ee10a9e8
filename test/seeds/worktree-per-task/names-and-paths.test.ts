/** A worktree for each task, under the ids by which it was asked for: names and paths. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  baseFolder,
  fromTemplate,
  requireBranchName,
  requireInside,
  requireTaskId,
} from '../../../src/core/model/names.ts'
import { defaultSettings } from '../../../src/core/model/settings.ts'
import { offshoot, testRepo } from '../../support/repo.ts'
import { library, linkedWorktrees, withEnv } from '../../support/workspace.ts'
import { refused, everything, nothing } from './shared.ts'

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
