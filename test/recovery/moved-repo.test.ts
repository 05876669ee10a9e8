import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { openRepo } from '../../src/index.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { worked } from '../support/worked.ts'
import { inFolder, library } from '../support/workspace.ts'

test('P3, R7: what was landed is taken back where the repository is now', async () => {
  const { user, repo } = await worked({ f: 'one\n' }, [{ f: 'two\n', g: 'new\n' }])
  const { operation } = await repo.accept({ task: 'T1', as: 'patch', keep: true })
  await repo.close()
  const there = path.join(user.home, 'elsewhere')
  renameSync(user.dir, there)
  const moved = openRepo(there, { env: user.env })
  try {
    await moved.start({ task: 'T1' })
    await moved.undo(operation)
  } finally {
    await moved.close()
  }
  expect(readFileSync(path.join(there, 'f'), 'utf8')).toBe('one\n')
  expect(existsSync(path.join(there, 'g'))).toBe(false)
  expect(existsSync(user.dir)).toBe(false)
})

describe('R7: a checkout that a task on a shadow branch has given back', () => {
  /** A checkout in which such a task was, and one open task in a worktree. */
  async function given() {
    const user = testRepo()
    const lib = library(user)
    await lib.start({ task: 'shadow', isolation: 'branch' })
    await lib.reject({ task: 'shadow' })
    await lib.start({ task: 'T1' })
    return { user, there: path.join(user.home, 'elsewhere') }
  }
  const listed = async (repo: TestRepo) =>
    ((await offshoot(repo, 'list', '--json')).json.tasks as { id: string }[]).map(({ id }) => id)

  test('the repository is moved away and back again, and repair finds it each time', async () => {
    const { user, there } = await given()
    for (const [from, to] of [
      [user.dir, there],
      [there, user.dir],
    ] as const) {
      renameSync(from, to)
      const at = inFolder(user, to)
      expect((await offshoot(at, 'repair', '--json')).json).toMatchObject({
        ok: true,
        repaired: [{ message: `it was moved from ${from} to ${to}` }, {}],
      })
      expect(await listed(at)).toEqual(['T1'])
    }
    expect((await offshoot(user, 'start', 'T2')).code).toBe(0)
  })

  test('another repository in its old place is not taken for it', async () => {
    const { user, there } = await given()
    renameSync(user.dir, there)
    await offshoot(inFolder(user, there), 'repair')
    mkdirSync(user.dir)
    user.git('init', '--quiet', '--initial-branch=main')
    user.git('commit', '--quiet', '--allow-empty', '--message=Another')
    const { json } = await offshoot(user, 'start', 'T2', '--json')
    expect(json.task.base.commit).toBe(user.git('rev-parse', 'HEAD').trim())
    expect(await listed(user)).toEqual(['T2'])
    expect((await offshoot(user, 'accept', '--json')).json.error.code).toBe('WT_019')
  })

  test('A1: the work of another task lands there, when accept is called there', async () => {
    const user = testRepo()
    const other = inFolder(user, path.join(user.home, 'other'))
    user.git('worktree', 'add', '--quiet', '-b', 'side', other.dir)
    const { task } = await library(user).start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    const beside = library(other)
    await beside.start({ task: 'shadow', isolation: 'branch' })
    await beside.reject({ task: 'shadow' })
    expect((await offshoot(other, 'accept', 'T1')).code).toBe(0)
    expect([user, other].map((repo) => existsSync(path.join(repo.dir, 'new.txt')))).toEqual([false, true])
  })
})
