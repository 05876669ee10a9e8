/** Refs written in process, compared with refs that git writes. */
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type TestRepo, testRepo } from '../../test/support/repo.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { RefChange } from '../core/model/git.ts'
import { nodeFiles } from '../files/node.ts'
import { changeLoose, isMove } from './loose-refs.ts'

const files = nodeFiles()

const headOf = (repo: TestRepo) => repo.git('rev-parse', 'HEAD').trim()

function change(
  repo: TestRepo,
  changes: readonly RefChange[],
  message = 'made',
  signal?: AbortSignal,
  through = files,
) {
  const gitDir = path.join(repo.dir, '.git')
  return changeLoose(through, { commonDir: gitDir, gitDir, checkout: repo.dir }, changes, message, signal)
}

function make(repo: TestRepo, refs: readonly string[], message?: string, signal?: AbortSignal) {
  const made = refs.map((ref) => ({ ref, old: null, new: headOf(repo) }))
  return change(repo, made, message, signal)
}

/** Renames a ref, as a rejected branch moves into the trash. */
function move(repo: TestRepo, ref: string, old = headOf(repo)) {
  return change(repo, [
    { ref: 'refs/offshoot/trash/1', old: null, new: old },
    { ref, old, new: null },
  ])
}

const sh = (repo: TestRepo, script: string) =>
  execFileSync('sh', ['-c', script], { cwd: repo.dir, env: repo.env, encoding: 'utf8' })
const refsOf = (repo: TestRepo) => repo.git('for-each-ref', '--format=%(refname)').trimEnd().split('\n')
const locksOf = (repo: TestRepo) => sh(repo, 'find .git -name "*.lock"').split('\n').filter(Boolean)

test('L5: refs are made as git makes them, with the log and the permissions that git gives', async () => {
  const repo = testRepo()
  sh(repo, 'GIT_COMMITTER_NAME=offshoot GIT_COMMITTER_EMAIL=offshoot@localhost git branch a/git')
  const message = sh(repo, 'cut -f2 .git/logs/refs/heads/a/git').trim()
  expect(await make(repo, ['refs/offshoot/base/1', 'refs/heads/a/ours'], message)).toBe(true)
  expect(refsOf(repo)).toEqual([
    'refs/heads/a/git',
    'refs/heads/a/ours',
    'refs/heads/main',
    'refs/offshoot/base/1',
  ])
  const logs = ['git', 'ours'].map((name) =>
    readFileSync(path.join(repo.dir, '.git/logs/refs/heads/a', name), 'utf8').replace(/> \d+ \S+/, '> then'),
  )
  expect(logs[1]).toBe(logs[0])
  expect(repo.git('reflog', 'show', '--format=%gs', 'a/ours')).toBe(`${message}\n`)
  const modes = sh(repo, 'stat -c %a .git/refs/heads/a/* .git/logs/refs/heads/a/*').trim().split('\n')
  expect(new Set(modes).size).toBe(1)
  expect(repo.git('fsck', '--strict').trim()).toBe('')
  expect(locksOf(repo)).toEqual([])
})

test('S2: refs are made although somebody takes each empty folder away that was made for them', async () => {
  const repo = testRepo()
  let taken = 0
  const raced: FileSystem = {
    ...files,
    async makeFolder(folder, mode) {
      await files.makeFolder(folder, mode)
      if (taken++ % 2 === 0) await files.removeEmptyFolder(folder)
    },
  }
  const made = { ref: 'refs/heads/a/ours', old: null, new: headOf(repo) }
  expect(await change(repo, [made], 'made', undefined, raced)).toBe(true)
  expect(repo.git('reflog', 'show', '--format=%gs', 'a/ours')).toBe('made\n')
  expect(taken).toBe(4)
})

test.each([
  ['is there', 'git branch a', 'refs/heads/a'],
  ['is packed', 'git branch a && git pack-refs --all', 'refs/heads/a'],
  ['is below one', 'git branch a && git pack-refs --all', 'refs/heads/a/b/c'],
  ['is above one', 'git branch a/b/c && git pack-refs --all', 'refs/heads/a'],
  ['is above a loose one', 'git branch a/b/c', 'refs/heads/a'],
  ['is a folder', 'mkdir -p .git/refs/heads/a/b', 'refs/heads/a'],
  ['is locked by another git', 'touch .git/refs/heads/a.lock', 'refs/heads/a'],
])('L5: git judges a ref whose name %s, and nothing has been changed', async (_, prepare, ref) => {
  const repo = testRepo()
  sh(repo, prepare)
  const before = { refs: refsOf(repo), locks: locksOf(repo) }
  expect(await make(repo, ['refs/heads/new', ref])).toBe(false)
  expect({ refs: refsOf(repo), locks: locksOf(repo) }).toEqual(before)
})

test('L5: in a repository that several users share git makes the refs', async () => {
  const repo = testRepo()
  chmodSync(path.join(repo.dir, '.git/refs'), 0o2775)
  expect(await make(repo, ['refs/heads/a'])).toBe(false)
})

test('S3: a cancelled one makes no ref', async () => {
  const repo = testRepo()
  await expect(make(repo, ['refs/heads/a'], 'made', AbortSignal.abort())).rejects.toMatchObject({
    name: 'AbortError',
  })
  expect(refsOf(repo)).toEqual(['refs/heads/main'])
})

test('L5: a ref goes as git takes it away: with its log, and with folders that are empty then', async () => {
  const [ours, gits] = [testRepo(), testRepo()]
  for (const repo of [ours, gits]) for (const name of ['a/b/c', 'a/d']) repo.git('branch', name)
  expect(await move(ours, 'refs/heads/a/b/c')).toBe(true)
  gits.git('update-ref', 'refs/offshoot/trash/1', 'HEAD')
  gits.git('update-ref', '-d', 'refs/heads/a/b/c')
  const left = (repo: TestRepo) => sh(repo, 'find .git/refs .git/logs | sort')
  expect(left(ours)).toBe(left(gits))
  expect(refsOf(ours)).toEqual(['refs/heads/a/d', 'refs/heads/main', 'refs/offshoot/trash/1'])
  expect(locksOf(ours)).toEqual([])
})

test.each([
  ['is packed', 'git branch a && git pack-refs --all'],
  ['is packed and loose', 'git branch a && git pack-refs --all && git rev-parse HEAD >.git/refs/heads/a'],
  ['is not there', 'true'],
  [
    'has moved',
    'git branch a && git commit -qm more --allow-empty && git branch -f a && git reset -q --hard @~',
  ],
  ['points to another', 'git branch b && git symbolic-ref refs/heads/a refs/heads/b'],
  ['is checked out', 'git checkout -qb a'],
  ['is locked', 'git branch a && touch .git/refs/heads/a.lock'],
  ['is being packed', 'git branch a && touch .git/packed-refs.lock'],
])('L5: git judges the end of a ref that %s, and nothing has been changed', async (_, prepare) => {
  const repo = testRepo()
  sh(repo, prepare)
  const before = { refs: refsOf(repo), locks: locksOf(repo) }
  expect(await move(repo, 'refs/heads/a')).toBe(false)
  expect({ refs: refsOf(repo), locks: locksOf(repo) }).toEqual(before)
})

test('L5: a move gives another name to what a ref pointed at till now', () => {
  const gone = { ref: 'refs/heads/a', old: '1', new: null }
  expect(isMove([{ ref: 'refs/heads/b', old: null, new: '1' }, gone])).toBe(true)
  expect(isMove([{ ref: 'refs/heads/b', old: null, new: '2' }, gone])).toBe(false)
  expect(isMove([gone])).toBe(false)
})
