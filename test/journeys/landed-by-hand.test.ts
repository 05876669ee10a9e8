import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offshoot } from '../support/repo.ts'
import { commitFile } from '../support/workspace.ts'
import { lines, worked } from '../support/worked.ts'

const work = [{ f: lines({ 18: 'one' }) }, { f: lines({ 2: 'two', 18: 'one' }), g: 'new\n' }]

async function published() {
  const here = await worked({ f: lines(), other: 'other\n' }, work)
  const { user, repo } = here
  const landed = async () => (await repo.show('T1')).landed
  expect(await landed()).toBe(false)
  commitFile(user, 'other', 'before\n')
  return { ...here, landed }
}

/** The ways in which somebody brings a branch in without offshoot, with commits of their own around it. */
const ways: Record<string, string[][]> = {
  merged: [['merge', '-q', '--no-ff', '-m', 'Merge it', 'offshoot/T1']],
  squashed: [
    ['merge', '-q', '--squash', 'offshoot/T1'],
    ['commit', '-qm', 'All of it'],
  ],
  rebased: [['cherry-pick', 'main..offshoot/T1']],
}

test.each(Object.entries(ways))('R11: a branch that was %s by hand has landed', async (_, steps) => {
  const { user, landed } = await published()
  for (const args of steps) user.git(...args)
  expect(await landed()).toBe(true)
  commitFile(user, 'f', lines({ 10: 'later' }))
  expect(await landed()).toBe(true)
})

test.each(Object.entries(ways))(
  'R11: one that was %s on the remote has landed there when it is fetched',
  async (_, steps) => {
    const { user, repo, landed } = await published()
    const remote = path.join(user.home, 'remote')
    execFileSync('git', ['clone', '-q', user.dir, remote], { env: user.env })
    const there = (...args: string[]) =>
      execFileSync('git', args, { cwd: remote, env: user.env, stdio: 'pipe' })
    there('branch', '-q', 'offshoot/T1', 'origin/offshoot/T1')
    for (const args of steps) there(...args)
    user.git('remote', 'add', 'origin', remote)
    expect(await landed()).toBe(false)
    user.git('fetch', '-q', 'origin')
    expect(await landed()).toBe(true)
    const { stale } = await repo.prune({ dryRun: true })
    expect(stale).toMatchObject([{ task: { id: 'T1' }, why: 'landed in origin/main' }])
  },
)

test('R11: a part of the commits, or a squash of a part, is not all of it', async () => {
  const { user, landed } = await published()
  user.git('cherry-pick', 'offshoot/T1~1')
  expect(await landed()).toBe(false)
})

test('R11: what the workspace holds beyond the branch keeps it from having landed, and prune lets it stay', async () => {
  const { user, repo, at, landed } = await published()
  user.git('merge', '-q', 'offshoot/T1')
  expect((await repo.prune({ dryRun: true })).stale).toMatchObject([
    { task: { id: 'T1' }, why: 'landed in main' },
  ])
  writeFileSync(at('unsaved'), 'unsaved\n')
  expect(await landed()).toBe(false)
  expect((await repo.prune({ dryRun: true })).stale).toEqual([])
})

test('R11: two binary files are not the same because both are binary', async () => {
  const { user, repo } = await worked({ bin: '\0old' }, [{ bin: '\0agent' }])
  commitFile(user, 'bin', '\0mine')
  expect((await repo.show('T1')).landed).toBe(false)
  user.git('checkout', '-q', 'HEAD~1', '--', 'bin')
  user.git('commit', '-qm', 'Back')
  commitFile(user, 'bin', '\0agent')
  expect((await repo.show('T1')).landed).toBe(true)
})

test('R11: a task without commits has nothing that could have landed, and list does not look', async () => {
  const { user, repo } = await worked({ f: lines() })
  expect((await repo.show('T1')).landed).toBeNull()
  expect((await repo.prune({ dryRun: true })).stale).toEqual([])
  const { json } = await offshoot(user, 'list', '--json')
  expect(json.tasks).toMatchObject([{ id: 'T1', landed: null }])
})

test('R11: remove tells whether the work had landed', async () => {
  const { user, repo } = await published()
  user.git('merge', '-q', '--squash', 'offshoot/T1')
  user.git('commit', '-qm', 'All of it')
  expect((await repo.remove({ task: 'T1' })).task.landed).toBe(true)
  await repo.undo()
  user.git('reset', '-q', '--hard', 'HEAD~1')
  expect((await repo.remove({ task: 'T1' })).task.landed).toBe(false)
})

test('R11: a branch that was kept is looked at, too', async () => {
  const { user, repo, landed } = await published()
  await repo.accept({ task: 'T1', as: 'keep-branch' })
  expect(await landed()).toBe(false)
  user.git('cherry-pick', 'main..offshoot/T1')
  expect(await landed()).toBe(true)
})
