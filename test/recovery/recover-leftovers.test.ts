import { existsSync, mkdirSync, renameSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { commitFile, inFolder, once } from '../support/workspace.ts'

/** A task that was rejected, with its folder and its registration back where they were. */
async function leftOver(user: TestRepo): Promise<TestRepo> {
  const { task } = await once(user, (repo) => repo.start({ task: 'T1' }))
  await once(user, (repo) => repo.reject({ task: 'T1' }))
  const name = path.basename(task.path)
  const trash = path.join(path.dirname(task.path), '.trash', name)
  const registered = path.join(user.dir, '.git', 'worktrees', name)
  mkdirSync(path.dirname(registered), { recursive: true })
  renameSync(path.join(trash, 'workspace'), task.path)
  renameSync(path.join(trash, 'registration'), registered)
  return inFolder(user, task.path)
}

test('R5: a leftover that stands on a commit which nothing else leads to stays, and its commits with it', async () => {
  const user = testRepo()
  const left = await leftOver(user)
  left.git('checkout', '--quiet', '--detach', 'main')
  const commit = commitFile(left, 'only.txt', 'only here\n')
  left.git('rm', '--quiet', 'only.txt')
  left.git('commit', '--quiet', '--message=Take it away')
  const { json } = await offshoot(user, 'recover', '--json')
  expect(json.recovered).toEqual([])
  expect(json.reported).toMatchObject([{ message: expect.stringContaining('which no branch has') }])
  user.git('reflog', 'expire', '--expire=now', '--all')
  user.git('gc', '--quiet', '--prune=now')
  expect(user.git('show', `${commit}:only.txt`)).toBe('only here\n')
  left.git('switch', '--quiet', '--create', 'kept')
  expect((await offshoot(user, 'recover', '--json')).json.recovered).toMatchObject([
    { verdict: 'quarantined' },
  ])
  expect([existsSync(left.dir), user.git('show', 'kept~1:only.txt')]).toEqual([false, 'only here\n'])
})
