import { chmodSync, existsSync, mkdirSync, rmSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { fingerprint } from '../support/fingerprint.ts'
import { offshoot, testRepo } from '../support/repo.ts'
import { branches, commitFile, inFolder, library, linkedWorktrees, ownRefs } from '../support/workspace.ts'

/** A checkout in the middle of things: staged, changed, untracked, ignored and stashed files, a hook, a config. */
function messyRepo() {
  const repo = testRepo({ 'a.txt': 'one\n', 'b.txt': 'two\n', '.gitignore': '*.log\n' })
  repo.write('a.txt', 'stashed\n')
  repo.git('stash')
  repo.write('a.txt', 'staged\n')
  repo.git('add', 'a.txt')
  repo.write('a.txt', 'changed after staging\n')
  repo.write('b.txt', 'changed\n')
  repo.write('new.txt', 'untracked\n')
  repo.write('run.log', 'ignored\n')
  repo.write('.git/hooks/pre-commit', '#!/bin/sh\nexit 0\n')
  chmodSync(path.join(repo.dir, '.git/hooks/pre-commit'), 0o755)
  repo.write('.git/info/exclude', '*.tmp\n')
  repo.git('config', 'user.name', 'Somebody')
  repo.git('tag', 'v1')
  return repo
}

test('L1: git worktree list shows the workspace on its branch as soon as start has answered', async () => {
  const repo = testRepo()
  const { code, json, stderr } = await offshoot(repo, 'start', 'TASK-123', '--title', 'Do it', '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(json).toMatchObject({
    ok: true,
    reused: false,
    task: {
      id: 'TASK-123',
      title: 'Do it',
      state: 'active',
      isolation: 'worktree',
      base: { branch: 'main', commit: repo.git('rev-parse', 'main').trim() },
    },
  })
  const { path: folder, branch, head } = json.task
  expect(linkedWorktrees(repo)).toEqual([{ path: folder, branch, head }])
  expect(inFolder(repo, folder).git('status', '--porcelain')).toBe('')
  expect(existsSync(path.join(folder, 'a.txt'))).toBe(true)
})

test('L1: start, show, list and remove leave all that is the user’s byte for byte as it was', async () => {
  const repo = messyRepo()
  const before = fingerprint(repo)
  const { json } = await offshoot(repo, 'start', 'T1', '--json')
  expect(fingerprint(repo)).toEqual(before)
  commitFile(inFolder(repo, json.task.path), 'agent.txt', 'work\n')
  await offshoot(repo, 'show', 'T1')
  await offshoot(repo, 'list')
  expect(fingerprint(repo)).toEqual(before)
  expect(await offshoot(repo, 'worktree', 'remove', '--task', 'T1')).toMatchObject({ code: 0 })
  expect(fingerprint(repo)).toEqual(before)
})

test('L3: the folder’s name holds the task and the time, the branch’s name holds the task', async () => {
  const { task } = await library(testRepo()).start({ task: 'TEST-001' })
  expect(path.basename(task.path)).toMatch(/^TEST-001-\d{8}-\d{6}$/)
  expect(task.branch).toBe('offshoot/TEST-001')
  const stamp = task.createdAt.replace(/[-:]/g, '').replace('T', '-').slice(0, 15)
  expect(path.basename(task.path)).toBe(`TEST-001-${stamp}`)
})

test('L4: the workspace is in the state folder, which is nobody else’s', async () => {
  const repo = testRepo()
  const { task } = await library(repo).start({ task: 'T1' })
  expect(task.path.startsWith(path.join(repo.home, 'state', 'workspaces', 'repo-'))).toBe(true)
})

describe('--from', () => {
  test.each([
    ['a branch', 'topic', 'topic'],
    ['a tag', 'v1', null],
    ['an annotated tag', 'v1-signed', null],
    ['a commit', '{commit}', null],
    ['a short commit', '{short}', null],
    ['a commit before a branch', 'topic~0', null],
    ['HEAD', 'HEAD', 'main'],
  ])('L5: the task starts from %s', async (_, name, branch) => {
    const repo = testRepo()
    repo.git('switch', '--quiet', '--create', 'topic')
    const commit = commitFile(repo, 'topic.txt', 'topic\n')
    repo.git('tag', 'v1')
    repo.git('tag', '--annotate', '--message=One', 'v1-signed')
    repo.git('switch', '--quiet', 'main')
    const from = name.replace('{commit}', commit).replace('{short}', commit.slice(0, 9))
    const { task } = await library(repo).start({ task: 'T1', from })
    const expected = name === 'HEAD' ? repo.git('rev-parse', 'main').trim() : commit
    expect(task.base).toEqual({ branch, commit: expected })
    expect(linkedWorktrees(repo)).toEqual([{ path: task.path, branch: 'offshoot/T1', head: expected }])
    expect(existsSync(path.join(task.path, 'topic.txt'))).toBe(name !== 'HEAD')
  })
})

test('L5: --branch gives the new branch its own name', async () => {
  const repo = testRepo()
  const { task } = await library(repo).start({ task: 'T1', branch: 'feature/größer' })
  expect(task.branch).toBe('feature/größer')
  expect(linkedWorktrees(repo)[0]?.branch).toBe('feature/größer')
  expect(inFolder(repo, task.path).git('rev-parse', '--abbrev-ref', 'HEAD').trim()).toBe('feature/größer')
})

test('L5: --existing-branch takes a branch that is there and does not move it', async () => {
  const repo = testRepo()
  repo.git('switch', '--quiet', '--create', 'mine')
  const tip = commitFile(repo, 'mine.txt', 'mine\n')
  repo.git('switch', '--quiet', 'main')
  const { task } = await library(repo).start({ task: 'T1', existingBranch: 'mine' })
  expect(task).toMatchObject({ branch: 'mine', base: { branch: 'mine', commit: tip }, head: tip })
  expect(branches(repo)).toEqual(['main', 'mine'])
  expect(linkedWorktrees(repo)).toEqual([{ path: task.path, branch: 'mine', head: tip }])
})

test('L5: the base is there for as long as the task is, whatever the user rewrites and collects', async () => {
  const repo = testRepo()
  const base = commitFile(repo, 'later.txt', 'later\n')
  const { task } = await library(repo).start({ task: 'T1' })
  repo.git('reset', '--quiet', '--hard', 'HEAD~1')
  inFolder(repo, task.path).git('reset', '--quiet', '--hard', 'main')
  repo.git('reflog', 'expire', '--expire=now', '--all')
  inFolder(repo, task.path).git('reflog', 'expire', '--expire=now', '--all')
  rmSync(path.join(repo.dir, '.git/ORIG_HEAD'))
  rmSync(path.join(repo.dir, '.git/worktrees', path.basename(task.path), 'ORIG_HEAD'))
  repo.git('gc', '--quiet', '--prune=now')
  expect(repo.git('cat-file', '-t', base).trim()).toBe('commit')
  expect(repo.git('show', `${base}:later.txt`)).toBe('later\n')
})

test('L2: starting an open task again reuses it', async () => {
  const repo = testRepo()
  const first = await offshoot(repo, 'start', 'T1', '--json')
  const tip = commitFile(inFolder(repo, first.json.task.path), 'agent.txt', 'work\n')
  const again = await offshoot(repo, 'start', 'T1', '--json')
  expect(again).toMatchObject({ code: 0, json: { reused: true, recreated: false } })
  expect(again.json.task).toMatchObject({ path: first.json.task.path, branch: 'offshoot/T1' })
  expect(linkedWorktrees(repo)).toEqual([{ path: first.json.task.path, branch: 'offshoot/T1', head: tip }])
})

test('L2: an open task on another branch is not reused', async () => {
  const repo = testRepo()
  await library(repo).start({ task: 'T1' })
  const { code, json } = await offshoot(repo, 'start', 'T1', '--branch', 'other', '--json')
  expect({ code, error: json.error.code }).toEqual({ code: 5, error: 'WT_013' })
  expect(branches(repo)).toEqual(['main', 'offshoot/T1'])
})

test('L2: the id of a closed task is free again', async () => {
  const repo = testRepo()
  const work = library(repo)
  const { task: first } = await work.start({ task: 'T1' })
  await work.remove({ task: 'T1' })
  const { task: second, reused } = await work.start({ task: 'T1' })
  expect(reused).toBe(false)
  expect(second.path).not.toBe(first.path)
  expect(await work.list()).toHaveLength(1)
  expect(await work.list({ all: true })).toHaveLength(2)
})

test('L2: without an id, one is made from the title', async () => {
  const { task } = await library(testRepo()).start({ title: 'Fix the Login, please: now!' })
  expect(task.id).toMatch(/^fix-the-login-please-now-\w{4}$/)
  expect(task.branch).toBe(`offshoot/${task.id}`)
})

test('L7: a workspace whose folder is gone is made again, with the commits of the agent', async () => {
  const repo = testRepo()
  const work = library(repo)
  const { task } = await work.start({ task: 'T1' })
  const tip = commitFile(inFolder(repo, task.path), 'agent.txt', 'work\n')
  rmSync(task.path, { recursive: true })
  const again = await work.start({ task: 'T1' })
  expect(again).toMatchObject({ reused: true, recreated: true, task: { path: task.path } })
  expect(linkedWorktrees(repo)).toEqual([{ path: task.path, branch: 'offshoot/T1', head: tip }])
  expect(inFolder(repo, task.path).git('status', '--porcelain')).toBe('')
  expect(existsSync(path.join(task.path, 'agent.txt'))).toBe(true)
})

test('L7: a workspace is made again also after git worktree prune and with its branch packed', async () => {
  const repo = testRepo()
  const work = library(repo)
  const { task } = await work.start({ task: 'T1' })
  const tip = commitFile(inFolder(repo, task.path), 'agent.txt', 'work\n')
  rmSync(task.path, { recursive: true })
  repo.git('worktree', 'prune')
  repo.git('pack-refs', '--all')
  expect(await work.start({ task: 'T1' })).toMatchObject({ recreated: true })
  expect(linkedWorktrees(repo)).toEqual([{ path: task.path, branch: 'offshoot/T1', head: tip }])
})

test('K5: what an agent adds or commits as soon as the start has answered is in its first step', async () => {
  const repo = testRepo()
  const work = library(repo)
  const { task } = await work.start({ task: 'T1' })
  const workspace = inFolder(repo, task.path)
  workspace.write('staged.txt', 'staged\n')
  workspace.git('add', 'staged.txt')
  workspace.git('commit', '--quiet', '--message=At once')
  workspace.write('later.txt', 'later\n')
  workspace.git('add', 'later.txt')
  const { checkpoint } = await work.checkpoint({ task: 'T1' })
  expect(checkpoint.files.map((file) => file.path).toSorted()).toEqual(['later.txt', 'staged.txt'])
})

test('L1: start works from a subfolder, and -C names the repository', async () => {
  const repo = testRepo({ 'deep/er/a.txt': 'one\n' })
  const { task } = await library(inFolder(repo, path.join(repo.dir, 'deep/er'))).start({ task: 'T1' })
  const outside = inFolder(repo, repo.home)
  const { json } = await offshoot(outside, '-C', 'repo/deep', 'start', 'T2', '--json')
  expect(linkedWorktrees(repo).map((found) => found.path)).toEqual([task.path, json.task.path])
})

test('L1: a task started in a workspace goes on from that workspace’s commit and stands beside it', async () => {
  const repo = testRepo()
  const { task: first } = await library(repo).start({ task: 'T1' })
  const tip = commitFile(inFolder(repo, first.path), 'agent.txt', 'work\n')
  mkdirSync(path.join(first.path, 'sub'))
  const { task } = await library(inFolder(repo, path.join(first.path, 'sub'))).start({ task: 'T2' })
  expect(task.base).toEqual({ branch: 'offshoot/T1', commit: tip })
  expect(path.dirname(task.path)).toBe(path.dirname(first.path))
  expect((await library(repo).list()).map(({ id }) => id)).toEqual(['T2', 'T1'])
})

test('L6: a lock that a killed git left on the mark of the repository stops nobody', async () => {
  const repo = testRepo()
  repo.write('.git/refs/offshoot/repo.lock', '')
  expect(await library(repo).start({ task: 'T1' })).toMatchObject({ reused: false })
})

test('L6, R5: a lock of the user’s on the branch that is wanted stops the start, and stays', async () => {
  const repo = testRepo()
  repo.write('.git/refs/heads/feature.lock', '')
  const lock = path.join(repo.dir, '.git/refs/heads/feature.lock')
  const hourAgo = Date.now() / 1000 - 3600
  utimesSync(lock, hourAgo, hourAgo)
  const { code, json } = await offshoot(repo, 'start', 'T1', '--branch', 'feature', '--json')
  expect([code, json.error.code, existsSync(lock)]).toEqual([5, 'WT_012', true])
  expect(ownRefs(repo)).toEqual(['refs/offshoot/repo'])
  rmSync(lock)
  expect((await offshoot(repo, 'start', 'T1', '--branch', 'feature')).code).toBe(0)
})

test('L5: a start that failed leaves no ref of its own but the mark of the repository', async () => {
  const repo = testRepo()
  repo.git('branch', 'taken')
  await expect(library(repo).start({ task: 'T1', branch: 'taken' })).rejects.toMatchObject({ code: 'WT_002' })
  expect(ownRefs(repo)).toEqual(['refs/offshoot/repo'])
  expect(branches(repo)).toEqual(['main', 'taken'])
})
