/** A4, P3: a file of the checkout that cannot be written, as it belongs to somebody else. */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ComposeOptions } from '../../src/compose/full.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'

type Around = NonNullable<ComposeOptions['around']>

/** What the system says of a folder that is not the user's to write. */
const refused = (file: string) =>
  Object.assign(new Error(`EACCES: permission denied, rename '${file}'`), { code: 'EACCES', path: file })

const unwritable = (name: string): Around => ({
  checkouts: (checkouts) => ({
    ...checkouts,
    place: (staged, checkout, file, leaf, seen) =>
      file === name ? Promise.reject(refused(file)) : checkouts.place(staged, checkout, file, leaf, seen),
  }),
})

/** Once: what was written of it can be taken back. */
const unwritableIndex: Around = {
  checkouts(checkouts) {
    const calls = [() => Promise.reject(refused('index'))]
    return { ...checkouts, changeIndex: (...call) => (calls.pop() ?? checkouts.changeIndex)(...call) }
  },
}

async function worked(user: TestRepo, isolation: 'worktree' | 'branch' = 'worktree') {
  user.git('config', 'user.name', 'Ursula')
  user.git('config', 'user.email', 'ursula@example.com')
  user.write('mine', 'not committed\n')
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1', isolation })
  writeFileSync(path.join(task.path, 'a'), 'of the agent\n')
  rmSync(path.join(task.path, 'b'))
  writeFileSync(path.join(task.path, 'z'), 'of the agent\n')
  await repo.checkpoint({ task: 'T1' })
  return repo
}

const stagedOf = (user: TestRepo) =>
  readdirSync(path.join(user.dir, '.git')).filter(
    (name) => name.startsWith('offshoot-') || name.endsWith('.lock'),
  )

describe('A4: an accept that meets a file it may not write changes nothing', () => {
  const strategies = ['patch', 'squash', 'merge', 'rebase'] as const

  const rows = [
    ...strategies.map((as) => ({ as, what: 'a file', around: unwritable('z') })),
    ...strategies.slice(1).map((as) => ({ as, what: 'the index', around: unwritableIndex })),
  ]

  test.each(rows)('$as, $what', async ({ as, around }) => {
    const user = testRepo({ a: 'one\n', b: 'two\n', z: 'three\n' })
    const repo = await worked(user)
    const before = { ...fingerprint(user), branch: user.git('for-each-ref', 'refs/heads/main') }
    await expect(library(user, { around }).accept({ task: 'T1', as })).rejects.toMatchObject({
      code: 'WT_022',
      hint: expect.stringContaining('Nothing was changed.'),
    })
    expect({ ...fingerprint(user), branch: user.git('for-each-ref', 'refs/heads/main') }).toEqual({
      ...before,
      'git/index': expect.any(String),
    })
    expect(stagedOf(user)).toEqual([])
    expect(await repo.recover()).toEqual([])
    await repo.accept({ task: 'T1', as })
    expect(existsSync(path.join(user.dir, 'b'))).toBe(false)
    expect(user.git('show', ':z')).toBe(as === 'patch' ? 'three\n' : 'of the agent\n')
  })
})

test('P3: an undo that meets one changes nothing', async () => {
  const user = testRepo({ a: 'one\n', b: 'two\n', z: 'three\n' })
  const repo = await worked(user)
  await repo.accept({ task: 'T1' })
  const before = fingerprint(user)
  await expect(library(user, { around: unwritable('z') }).undo()).rejects.toMatchObject({ code: 'WT_022' })
  expect(fingerprint(user)).toEqual(before)
  expect(stagedOf(user)).toEqual([])
  await repo.undo()
  expect(user.git('status', '--porcelain')).toBe('?? mine\n')
})

test('L12: a task in the checkout that cannot leave it stays as it is', async () => {
  const user = testRepo({ a: 'one\n', b: 'two\n', z: 'three\n' })
  const repo = await worked(user, 'branch')
  const before = fingerprint(user)
  await expect(library(user, { around: unwritable('z') }).reject({ task: 'T1' })).rejects.toMatchObject({
    code: 'WT_022',
  })
  expect(fingerprint(user)).toEqual(before)
  await repo.reject({ task: 'T1' })
  expect(user.git('status', '--porcelain', '--branch')).toBe('## main\n?? mine\n')
})
