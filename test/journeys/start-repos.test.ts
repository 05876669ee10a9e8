/** L10: every kind of repository that git knows works, or says why not. */
import { execFileSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { fingerprint } from '../support/fingerprint.ts'
import { tempFolder, type TestRepo, testRepo } from '../support/repo.ts'
import { branches, commitFile, inFolder, library, linkedWorktrees } from '../support/workspace.ts'

/** The copy that `git clone` makes of it with these options. */
function clone(repo: TestRepo, name: string, ...options: string[]): TestRepo {
  const dir = path.join(repo.home, name)
  repo.git('clone', '--quiet', ...options, `file://${repo.dir}`, dir)
  return inFolder(repo, dir)
}

/** Starts, works and removes, and tells where that did not go as it must in every kind of repository. */
async function lifeOfTask(repo: TestRepo): Promise<string[]> {
  const before = JSON.stringify(fingerprint(repo))
  const isUntouched = () => JSON.stringify(fingerprint(repo)) === before
  const work = library(repo)
  const { task } = await work.start({ task: 'T1' })
  const [made] = linkedWorktrees(repo)
  const workspace = inFolder(repo, task.path)
  const fresh = workspace.git('status', '--porcelain')
  const tip = commitFile(workspace, 'agent.txt', 'work\n')
  const shown = await work.show('T1')
  const checks: [boolean, string][] = [
    [made?.path === task.path && made.branch === 'offshoot/T1', 'git lists it'],
    [made?.head === task.base.commit, 'it is at its base'],
    [fresh === '', 'a new workspace is clean'],
    [shown.head === tip && shown.dirty === false, 'show sees the commit'],
    [isUntouched(), 'the user’s things are untouched'],
  ]
  await work.remove({ task: 'T1' })
  checks.push([linkedWorktrees(repo).length === 0, 'git lists it no more'])
  checks.push([!branches(repo).includes('offshoot/T1'), 'the branch is gone'])
  checks.push([isUntouched(), 'the user’s things are untouched by the removal'])
  return checks.filter(([held]) => !held).map(([, what]) => `not so: ${what}`)
}

test('L10: a detached HEAD: the task starts from the commit and is meant for no branch', async () => {
  const repo = testRepo()
  const commit = commitFile(repo, 'b.txt', 'two\n')
  repo.git('switch', '--quiet', '--detach', 'HEAD~1')
  const { task } = await library(repo).start({ task: 'T0', from: commit })
  expect(task.base).toEqual({ branch: null, commit })
  const second = await library(repo).start({ task: 'T2' })
  expect(second.task.base).toEqual({ branch: null, commit: repo.git('rev-parse', 'HEAD').trim() })
})

test('L10: a repository with SHA-256 names', async () => {
  const folder = tempFolder()
  const repo = testRepo({}, folder)
  const dir = path.join(folder, 'long')
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', '--object-format=sha256', dir], {
    env: repo.env,
  })
  const long = inFolder(repo, dir)
  expect(commitFile(long, 'a.txt', 'one\n')).toHaveLength(64)
  expect(await lifeOfTask(long)).toEqual([])
})

test('L10: a shallow clone', async () => {
  const repo = testRepo()
  commitFile(repo, 'b.txt', 'two\n')
  const shallow = clone(repo, 'shallow', '--depth=1')
  expect(existsSync(path.join(shallow.dir, '.git/shallow'))).toBe(true)
  expect(await lifeOfTask(shallow)).toEqual([])
})

test('L10: a sparse checkout: the workspace has the same cone', async () => {
  const repo = testRepo({ 'in/a.txt': 'one\n', 'out/b.txt': 'two\n', 'top.txt': 'top\n' })
  repo.git('sparse-checkout', 'set', '--cone', 'in')
  const { task } = await library(repo).start({ task: 'T0' })
  const seen = ['in/a.txt', 'out/b.txt', 'top.txt'].map((file) => existsSync(path.join(task.path, file)))
  expect(seen).toEqual([true, false, true])
  const workspace = inFolder(repo, task.path)
  expect(workspace.git('sparse-checkout', 'list')).toBe('in\n')
  workspace.git('sparse-checkout', 'disable')
  expect(existsSync(path.join(task.path, 'out/b.txt'))).toBe(true)
  expect(existsSync(path.join(repo.dir, 'out/b.txt'))).toBe(false)
  await library(repo).remove({ task: 'T0' })
  expect(await lifeOfTask(repo)).toEqual([])
})

test('L10: a bare repository', async () => {
  const bare = clone(testRepo(), 'bare.git', '--bare')
  expect(await lifeOfTask(bare)).toEqual([])
})

test('L10: in a bare repository no branch is checked out, so its HEAD’s can be adopted', async () => {
  const bare = clone(testRepo(), 'bare.git', '--bare')
  const work = library(bare)
  const { task } = await work.start({ task: 'T1', existingBranch: 'main' })
  expect(linkedWorktrees(bare)).toEqual([{ path: task.path, branch: 'main', head: task.head }])
  await work.remove({ task: 'T1' })
  expect(branches(bare)).toEqual(['main'])
})

test('L10: a bare repository is found from a worktree of it, too', async () => {
  const bare = clone(testRepo(), 'bare.git', '--bare')
  const checkout = path.join(bare.home, 'checkout')
  bare.git('worktree', 'add', '--quiet', '-b', 'mine', checkout)
  const { task } = await library(inFolder(bare, checkout)).start({ task: 'T1' })
  expect(task.base.branch).toBe('mine')
  expect((await library(bare).list()).map(({ id }) => id)).toEqual(['T1'])
})

test('L10: a submodule is a repository of its own', async () => {
  const inner = testRepo()
  const outer = testRepo()
  outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'lib')
  outer.git('commit', '--quiet', '--message=Add lib')
  const before = fingerprint(outer)
  expect(await lifeOfTask(inFolder(outer, path.join(outer.dir, 'lib')))).toEqual([])
  expect(outer.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(fingerprint(outer)).toEqual(before)
})

test('L10: a repository whose git folder is elsewhere', async () => {
  const repo = testRepo()
  repo.git('init', '--quiet', '--separate-git-dir', path.join(repo.home, 'elsewhere.git'))
  expect(await lifeOfTask(repo)).toEqual([])
})

test('L10: a repository with all its refs packed', async () => {
  const repo = testRepo()
  repo.git('pack-refs', '--all')
  expect(await lifeOfTask(repo)).toEqual([])
})

test('L10: a repository with spaces, quotes and letters beyond ASCII in its path', async () => {
  expect(
    await lifeOfTask(testRepo({ 'ä b\n.txt': 'odd\n' }, path.join(tempFolder(), `it's "größer" $HOME`))),
  ).toEqual([])
})

test('L10: a repository whose .gitattributes is a link, which git does not follow', async () => {
  const repo = testRepo({ rules: '* text eol=crlf\n', 'a.txt': 'one\n' })
  symlinkSync('rules', path.join(repo.dir, '.gitattributes'))
  repo.git('add', '--all')
  repo.git('commit', '--quiet', '--message=Link')
  expect(await lifeOfTask(repo)).toEqual([])
})
