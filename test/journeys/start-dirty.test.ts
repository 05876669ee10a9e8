/** L13: a task that starts from the checkout as it is. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readTree } from '../support/accept/disk.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { inFolder, library } from '../support/workspace.ts'

const lines = (second: string, last = '8') => `1\n${second}\n3\n4\n5\n6\n7\n${last}\n`

/** Everything a checkout can have: staged, changed, untracked, deleted, ignored, and a file in the place of a folder. */
function dirtyRepo(): TestRepo {
  const repo = testRepo({ 'a.txt': lines('2'), 'b.txt': 'b\n', 'd/x': 'x\n', '.gitignore': '*.log\n' })
  repo.git('config', '--global', 'user.name', 'User')
  repo.git('config', '--global', 'user.email', 'user@example.com')
  repo.write('a.txt', lines('mine'))
  repo.write('staged.txt', 'staged\n')
  repo.write('kept.log', 'taken in all the same\n')
  repo.git('add', 'staged.txt')
  repo.git('add', '--force', 'kept.log')
  repo.write('staged.txt', 'staged, then changed\n')
  repo.write('untracked.txt', 'untracked\n')
  symlinkSync('nowhere', path.join(repo.dir, 'link'))
  rmSync(path.join(repo.dir, 'b.txt'))
  rmSync(path.join(repo.dir, 'd'), { recursive: true })
  repo.write('d', 'a file by now\n')
  repo.write('ignored.log', 'ignored\n')
  return repo
}

const agent = (folder: string, file: string, text: string) => writeFileSync(path.join(folder, file), text)

test('L13, P1: the workspace is the checkout without what is ignored, HEAD is the base, and the checkout stays', async () => {
  const repo = dirtyRepo()
  const before = fingerprint(repo)
  const answer = await offshoot(repo, 'start', 'T1', '--dirty', '--json')
  const { task } = answer.json
  expect(fingerprint(repo)).toEqual(before)
  const expected = readTree(repo.dir) as Map<string, unknown>
  expected.delete('ignored.log')
  expect(readTree(task.path)).toEqual(expected)
  expect(task).toMatchObject({ checkpoints: 0, files: 0, base: { branch: 'main' } })
  expect(inFolder(repo, task.path).git('rev-parse', 'HEAD')).toBe(repo.git('rev-parse', 'HEAD'))
  expect((await library(repo).show('T1')).dirty).toBe(false)
})

test('L13, A1: an accept lands what the agent did and nothing of the user’s twice', async () => {
  const repo = dirtyRepo()
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1', dirty: true })
  agent(task.path, 'a.txt', lines('mine', 'the agent'))
  agent(task.path, 'kept.log', 'changed by the agent\n')
  const { files } = (await lib.checkpoint({ task: 'T1' })).checkpoint
  expect(files.map(({ path: file }) => file)).toEqual(['a.txt', 'kept.log'])
  const staged = repo.git('diff', '--cached')
  // Meanwhile the user has gone on.
  repo.write('a.txt', lines('mine, too'))
  await lib.accept({ task: 'T1' })
  expect(readFileSync(path.join(repo.dir, 'a.txt'), 'utf8')).toBe(lines('mine, too', 'the agent'))
  expect(readFileSync(path.join(repo.dir, 'kept.log'), 'utf8')).toBe('changed by the agent\n')
  expect(repo.git('diff', '--cached')).toBe(staged)
})

test('L13, A2: commits hold the agent’s part alone, what was not committed stays so', async () => {
  for (const as of ['squash', 'merge', 'rebase'] as const) {
    const repo = dirtyRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1', dirty: true })
    agent(task.path, 'new.txt', 'new\n')
    agent(task.path, 'a.txt', lines('mine', 'the agent'))
    await lib.checkpoint({ task: 'T1' })
    repo.git('branch', 'other')
    const before = fingerprint(repo)
    await lib.accept({ task: 'T1', as, onto: 'other' })
    expect(repo.git('diff', 'main', 'other', '--stat', '--name-only')).toBe('a.txt\nnew.txt\n')
    expect(repo.git('show', 'other:a.txt')).toBe(lines('2', 'the agent'))
    const { 'refs/heads/other': moved, ...after } = fingerprint(repo)
    expect(after).toEqual({ ...before, 'refs/heads/other': undefined })
    expect(moved).not.toBe(before['refs/heads/other'])
    const history = repo.git('log', '--format=%s', 'main..other')
    expect(history).not.toContain('not committed')
  }
})

test('L13, K10: on the branch lies first what was not committed, then the steps', async () => {
  const repo = dirtyRepo()
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1', dirty: true })
  agent(task.path, 'new.txt', 'new\n')
  const { checkpoint } = await lib.checkpoint({ task: 'T1' })
  const at = inFolder(repo, task.path)
  expect(at.git('show', '--name-only', '--format=', checkpoint.published ?? '')).toBe('new.txt\n')
  expect(at.git('log', '--format=%s', 'main..').split('\n')).toEqual([
    'Hand edit',
    'What was not committed at the start of T1',
    '',
  ])
  expect(at.git('status', '--porcelain')).toBe('')
})

test('L13, K6: rewinding to step 0 and losing the folder both end in the checkout as it was', async () => {
  const repo = dirtyRepo()
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1', dirty: true })
  const begun = readTree(task.path)
  agent(task.path, 'a.txt', 'all new\n')
  rmSync(path.join(task.path, 'untracked.txt'))
  await lib.checkpoint({ task: 'T1' })
  await lib.rewind({ task: 'T1', to: 0 })
  expect(readTree(task.path)).toEqual(begun)
  rmSync(task.path, { recursive: true })
  expect(await lib.start({ task: 'T1' })).toMatchObject({ reused: true, recreated: true })
  expect(readTree(task.path)).toEqual(begun)
})

test('L13: a merge in progress, hidden and converted files are taken as they lie there', async () => {
  const repo = testRepo({
    'a.txt': 'one\n',
    'hidden.txt': 'one\n',
    'crlf.txt': 'one\n',
    '.gitattributes': 'crlf.txt eol=crlf\n',
  })
  repo.git('checkout', '--quiet', '-b', 'other')
  repo.write('a.txt', 'theirs\n')
  repo.git('commit', '--quiet', '--all', '--message=Theirs')
  repo.git('checkout', '--quiet', 'main')
  repo.write('a.txt', 'ours\n')
  repo.git('commit', '--quiet', '--all', '--message=Ours')
  expect(() => repo.git('merge', 'other')).toThrow('merge other')
  repo.git('update-index', '--assume-unchanged', 'hidden.txt')
  repo.write('hidden.txt', 'changed in hiding\n')
  repo.write('crlf.txt', 'one\r\ntwo\r\n')
  const before = fingerprint(repo)
  const { task } = await library(repo).start({ task: 'T1', dirty: true })
  expect(readTree(task.path)).toEqual(readTree(repo.dir))
  expect(fingerprint(repo)).toEqual(before)
})

test('L13, L10: in a sparse checkout nothing outside of it counts as deleted', async () => {
  const repo = testRepo({ 'in/a.txt': 'one\n', 'out/b.txt': 'two\n' })
  repo.git('sparse-checkout', 'set', 'in')
  repo.write('in/a.txt', 'changed\n')
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1', dirty: true })
  expect(readTree(task.path)).toEqual(readTree(repo.dir))
  agent(task.path, 'in/new.txt', 'new\n')
  const { checkpoint } = await lib.checkpoint({ task: 'T1' })
  expect(repo.git('diff', '--name-status', 'main', checkpoint.published ?? '')).toBe(
    'M\tin/a.txt\nA\tin/new.txt\n',
  )
})

test('L13: a clone and a start inside of another workspace begin with the same', async () => {
  const repo = dirtyRepo()
  const lib = library(repo)
  const first = await lib.start({ task: 'T1', dirty: true, isolation: 'clone' })
  const second = await lib.start({ task: 'T2', dirty: true })
  expect(readTree(first.task.path)).toEqual(readTree(second.task.path))
  agent(second.task.path, 'more.txt', 'more\n')
  const inside = await library(inFolder(repo, second.task.path)).start({ task: 'T3', dirty: true })
  const expected = readTree(second.task.path) as Map<string, unknown>
  // There, nobody has added it.
  expected.delete('kept.log')
  expect(readTree(inside.task.path)).toEqual(expected)
})

test('L13, K5: a repository inside the checkout stays out', async () => {
  const repo = dirtyRepo()
  mkdirSync(path.join(repo.dir, 'nested'))
  const nested = inFolder(repo, path.join(repo.dir, 'nested'))
  nested.git('init', '--quiet')
  nested.write('inner.txt', 'inner\n')
  const { task } = await library(repo).start({ task: 'T1', dirty: true })
  expect(existsSync(path.join(task.path, 'nested'))).toBe(false)
  expect(existsSync(path.join(task.path, 'untracked.txt'))).toBe(true)
})

test('L13: a base of one’s own, a shadow branch and a bare repository do not go with --dirty', async () => {
  const repo = dirtyRepo()
  for (const more of [
    ['--from', 'main'],
    ['--existing-branch', 'main'],
    ['--isolation', 'branch'],
  ])
    expect(await offshoot(repo, 'start', 'T1', '--dirty', '--json', ...more)).toMatchObject({ code: 2 })
  const bare = inFolder(repo, path.join(repo.home, 'bare.git'))
  repo.git('clone', '--quiet', '--bare', '.', bare.dir)
  expect((await offshoot(bare, 'start', 'T1', '--dirty', '--json')).json.error.code).toBe('WT_009')
})

test('L13, P1: an index that git has split in two is read whole, and stays split', async () => {
  const repo = dirtyRepo()
  repo.git('update-index', '--split-index')
  repo.write('staged-later.txt', 'in the smaller part\n')
  repo.git('add', 'staged-later.txt')
  repo.write('.worktreeinclude', 'ignored.log\n')
  const status = repo.git('--no-optional-locks', 'status', '--porcelain')
  const before = fingerprint(repo)
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1', dirty: true })
  expect(fingerprint(repo)).toEqual(before)
  expect(readTree(task.path)).toEqual(readTree(repo.dir))
  agent(task.path, 'new.txt', 'new\n')
  const { operation } = await lib.accept({ task: 'T1' })
  expect(readFileSync(path.join(repo.dir, 'new.txt'), 'utf8')).toBe('new\n')
  await lib.undo(operation)
  expect(repo.git('status', '--porcelain')).toBe(status)
})
