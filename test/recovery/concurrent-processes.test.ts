/** S2, L11: many processes at once on one repository. */
import { expect, test } from 'vitest'
import type { FileSystem } from '../../src/core/ports/files.ts'
import { openAround } from '../support/open-around.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { type Outcome, offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { stepCommits } from '../support/vault.ts'
import { branches, inFolder, library, linkedWorktrees, ownRefs, withEnv } from '../support/workspace.ts'

const at = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n + 1))
const codes = (outcomes: Outcome[]) => outcomes.map(({ code, json }) => String(json?.error?.code ?? code))

test('S2: 20 starts at once on one repository make 20 tasks and 20 worktrees, and none fails', async () => {
  const repo = withEnv(testRepo(), { OFFSHOOT_LIMITS_PER_REPO: '30' })
  const before = fingerprint(repo)
  const outcomes = await Promise.all(at(20, (n) => offshoot(repo, 'start', `T${n}`, '--json')))
  expect(codes(outcomes)).toEqual(at(20, () => '0'))
  expect(outcomes.map(({ stderr }) => stderr).join('')).toBe('')
  const listed = linkedWorktrees(repo)
  expect(new Set(listed.map((found) => found.path))).toEqual(
    new Set(outcomes.map(({ json }) => json.task.path)),
  )
  expect(listed).toHaveLength(20)
  expect(branches(repo)).toHaveLength(21)
  const tasks = await library(repo).list()
  expect(tasks.map(({ id, state }) => `${id} ${state}`).toSorted()).toEqual(
    at(20, (n) => `T${n} active`).toSorted(),
  )
  expect(await library(repo).doctor()).toContainEqual(
    expect.objectContaining({ name: 'tasks', status: 'ok' }),
  )
  for (const { path: folder } of listed) expect(inFolder(repo, folder).git('status', '--porcelain')).toBe('')
  expect(fingerprint(repo)).toEqual(before)
})

test('S2: starts and removals at once do not get into each other’s way', async () => {
  const repo = testRepo()
  const work = library(repo)
  for (const n of at(6, (n) => n)) await work.start({ task: `OLD-${n}` })
  const outcomes = await Promise.all([
    ...at(6, (n) => offshoot(repo, 'worktree', 'remove', '--task', `OLD-${n}`, '--json')),
    ...at(4, (n) => offshoot(repo, 'start', `NEW-${n}`, '--json')),
  ])
  expect(codes(outcomes)).toEqual(at(10, () => '0'))
  expect(linkedWorktrees(repo)).toHaveLength(4)
  expect(branches(repo)).toEqual(['main', ...at(4, (n) => `offshoot/NEW-${n}`)])
})

test('S2: the step 0 that a start makes late takes the place of no step that another process has taken', async () => {
  const repo = testRepo({ 'a.txt': 'one\n', 'old.txt': 'old\n' })
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  // The start has answered, and is about to keep its step 0, of which nobody else knows yet.
  const files = (real: FileSystem): FileSystem => ({
    ...real,
    async placeDrafts(drafts) {
      reached.resolve()
      await released.promise
      return real.placeDrafts(drafts)
    },
  })
  const starting = openAround(repo.dir, { env: repo.env, around: { files } })
  const { task } = await starting.start({ task: 'T1' })
  await reached.promise
  const other = library(repo)
  const at = inFolder(repo, task.path)
  at.write('a.txt', 'ONE\n')
  const first = await other.checkpoint({ task: 'T1', summary: 'Shout' })
  released.resolve()
  await starting.close()
  at.write('new.txt', 'new\n')
  const second = await other.checkpoint({ task: 'T1', summary: 'Add' })
  expect([first, second].map(({ checkpoint }) => checkpoint.n)).toEqual([1, 2])
  expect(stepCommits(repo).slice(1)).toEqual([first.checkpoint.commit, second.checkpoint.commit])
  await other.accept({ task: 'T1', as: 'rebase' })
  expect(repo.git('log', '--format=%s', '--name-status', '--reverse', 'HEAD~2..')).toBe(
    'Hand edit - Shout\n\nM\ta.txt\nHand edit - Add\n\nA\tnew.txt\n',
  )
})

test('L11: past the limit a start is refused, says what to prune, and makes nothing', async () => {
  const repo = testRepo()
  const work = library(repo)
  for (const n of at(10, (n) => n)) await work.start({ task: `T${n}` })
  const refs = ownRefs(repo)
  const { code, json } = await offshoot(repo, 'start', 'T11', '--json')
  expect({ code, error: json.error.code }).toEqual({ code: 5, error: 'WT_003' })
  expect(json.error.hint).toContain('prune')
  expect(json.error.data).toEqual({ open: 10, limit: 10 })
  expect(linkedWorktrees(repo)).toHaveLength(10)
  expect(ownRefs(repo)).toEqual(refs)
  expect(branches(repo)).not.toContain('offshoot/T11')
  expect(await work.list({ all: true })).toHaveLength(10)
  expect(await offshoot(repo, 'start', 'T10', '--json')).toMatchObject({ code: 0, json: { reused: true } })
  await work.remove({ task: 'T1' })
  expect(await offshoot(repo, 'start', 'T11', '--json')).toMatchObject({ code: 0, json: { reused: false } })
})

test('L11: the limit holds for starts at once, too', async () => {
  const repo = testRepo({ '.offshoot.yaml': 'limits:\n  perRepo: 2\n' })
  const outcomes = await Promise.all(at(6, (n) => offshoot(repo, 'start', `T${n}`, '--json')))
  expect(codes(outcomes).toSorted()).toEqual(['0', '0', 'WT_003', 'WT_003', 'WT_003', 'WT_003'])
  expect(linkedWorktrees(repo)).toHaveLength(2)
  expect(await library(repo).list({ all: true })).toHaveLength(2)
})

test('L2: processes that start one id at once get one task; all but one reuse it', async () => {
  const repo = testRepo()
  const outcomes = await Promise.all(at(4, () => offshoot(repo, 'start', 'T1', '--json')))
  expect(codes(outcomes)).toEqual(['0', '0', '0', '0'])
  expect(outcomes.filter(({ json }) => json.reused)).toHaveLength(3)
  expect(new Set(outcomes.map(({ json }) => json.task.path)).size).toBe(1)
  expect(linkedWorktrees(repo)).toHaveLength(1)
  expect(await library(repo).list({ all: true })).toHaveLength(1)
})

test('R2: of removals at once one removes, the others say that it is done', async () => {
  const repo = testRepo()
  await library(repo).start({ task: 'T1' })
  const outcomes = await Promise.all(
    at(4, () => offshoot(repo, 'worktree', 'remove', '--task', 'T1', '--json')),
  )
  expect(codes(outcomes)).toEqual(['0', '0', '0', '0'])
  expect(outcomes.filter(({ json }) => json.removed)).toHaveLength(1)
  expect(linkedWorktrees(repo)).toEqual([])
})

test('S1: ids that differ only in case cannot be open together', async () => {
  const repo = testRepo()
  await library(repo).start({ task: 'task-a' })
  const { code, json } = await offshoot(repo, 'start', 'TASK-A', '--json')
  expect({ code, error: json.error.code }).toEqual({ code: 5, error: 'WT_013' })
  expect(json.error.message).toContain('task-a')
  expect(linkedWorktrees(repo)).toHaveLength(1)
  expect(branches(repo)).toEqual(['main', 'offshoot/task-a'])
  const outcomes = await Promise.all(['b', 'B', 'b', 'B'].map((id) => offshoot(repo, 'start', id, '--json')))
  expect(codes(outcomes).toSorted()).toEqual(['0', '0', 'WT_013', 'WT_013'])
})

test.each([
  ['a', 'a/b'],
  ['a/b', 'a'],
  ['a/b/c', 'a'],
  ['offshoot', undefined],
])('S1: beside the branch %s there is none called %s', async (there, wanted) => {
  const repo = testRepo()
  repo.git('branch', there)
  const args = wanted === undefined ? [] : ['--branch', wanted]
  const { code, json } = await offshoot(repo, 'start', 'T1', ...args, '--json')
  expect({ code, error: json.error.code }).toEqual({ code: 5, error: 'WT_002' })
  expect(json.error.data).toEqual({ branch: there })
  expect(branches(repo)).toEqual([there, 'main'].toSorted())
  expect(linkedWorktrees(repo)).toEqual([])
  expect(await library(repo).list({ all: true })).toEqual([])
})

test('L6: a folder that somebody else makes under our name in the meantime is theirs and stays', async () => {
  const repo = testRepo()
  let foreign: TestRepo | undefined
  const work = library(repo, {
    around: {
      files: (files) => ({
        ...files,
        makeNewFolder(folder) {
          foreign ??= testRepo({ 'theirs.txt': 'theirs\n' }, folder)
          return files.makeNewFolder(folder)
        },
      }),
    },
  })
  await expect(work.start({ task: 'T1' })).rejects.toMatchObject({ code: 'WT_001' })
  expect(foreign?.git('status', '--porcelain')).toBe('')
  expect(linkedWorktrees(repo)).toEqual([])
  expect(branches(repo)).toEqual(['main'])
  expect(await library(repo).list({ all: true })).toEqual([])
})
